"""Names of the ops and passes that the bindings register, for checks of a schedule without the
bindings. A test compares them."""

from __future__ import annotations

OPS = {
    "affine": """
    apply delinearize_index dma_start dma_wait for if linearize_index load max min parallel prefetch store
    vector_load vector_store yield
    """,
    "arith": """
    addf addi addui_extended andi bitcast ceildivsi ceildivui cmpf cmpi constant convertf divf divsi divui extf
    extsi extui floordivsi flush_denormals fptosi fptoui index_cast index_castui maximumf maxnumf maxsi maxui
    minimumf minnumf minsi minui mulf muli mulsi_extended mului_extended negf ori remf remsi remui scaling_extf
    scaling_truncf select shli shrsi shrui sitofp subf subi subui_extended truncf trunci uitofp xori
    """,
    "bufferization": """
    alloc_tensor clone dealloc dealloc_tensor materialize_in_destination to_buffer to_tensor
    """,
    "cf": """
    assert br cond_br switch
    """,
    "complex": """
    abs add angle atan2 bitcast conj constant cos create div eq exp expm1 im log log1p mul neg neq pow powi re rsqrt
    sign sin sqrt sub tan tanh
    """,
    "func": """
    call call_indirect constant func return
    """,
    "gpu": """
    all_reduce alloc ballot barrier binary block_dim block_id cluster_block_id cluster_dim cluster_dim_blocks
    cluster_id create_2to4_spmat create_bsr create_coo create_coo_aos create_csc create_csr create_dn_tensor dealloc
    destroy_dn_tensor destroy_sp_mat dynamic_shared_memory func global_id grid_dim host_register host_unregister
    initialize_named_barrier lane_id launch launch_func memcpy memset module num_subgroups printf return rotate
    sddmm sddmm_buffer_size set_csr_pointers set_default_device shuffle spgemm_copy spgemm_create_descr
    spgemm_destroy_descr spgemm_work_estimation_or_compute spmat_get_size spmm spmm_buffer_size spmv
    spmv_buffer_size subgroup_broadcast subgroup_id subgroup_mma_compute subgroup_mma_constant_matrix
    subgroup_mma_elementwise subgroup_mma_extract_thread_local subgroup_mma_insert_thread_local
    subgroup_mma_load_matrix subgroup_mma_store_matrix subgroup_reduce subgroup_size terminator thread_id wait
    warp_execute_on_lane_0 yield
    """,
    "index": """
    add and bool.constant casts castu ceildivs ceildivu cmp constant divs divu floordivs maxs maxu mins minu mul or
    rems remu shl shrs shru sizeof sub xor
    """,
    "linalg": """
    abs add batch_matmul batch_matvec batch_mmt4d batch_reduce_matmul batch_vecmat broadcast ceil contract conv_1d
    conv_1d_ncw_fcw conv_1d_nwc_wcf conv_2d conv_2d_nchw_fchw conv_2d_nchw_fchw_q conv_2d_ngchw_fgchw
    conv_2d_ngchw_gfchw conv_2d_ngchw_gfchw_q conv_2d_nhwc_fhwc conv_2d_nhwc_fhwc_q conv_2d_nhwc_hwcf
    conv_2d_nhwc_hwcf_q conv_2d_nhwgc_gfhwc conv_2d_nhwgc_gfhwc_q conv_3d conv_3d_ncdhw_fcdhw conv_3d_ndhwc_dhwcf
    conv_3d_ndhwc_dhwcf_q copy depthwise_conv_1d_ncw_cw depthwise_conv_1d_nwc_wc depthwise_conv_1d_nwc_wcm
    depthwise_conv_2d_nchw_chw depthwise_conv_2d_nhwc_hwc depthwise_conv_2d_nhwc_hwc_q depthwise_conv_2d_nhwc_hwcm
    depthwise_conv_2d_nhwc_hwcm_q depthwise_conv_3d_ncdhw_cdhw depthwise_conv_3d_ndhwc_dhwc
    depthwise_conv_3d_ndhwc_dhwcm div div_unsigned dot elementwise erf exp fill fill_rng_2d floor generic index log
    map matmul matvec max min mmt4d mul negf pack pooling_nchw_max pooling_nchw_sum pooling_ncw_max pooling_ncw_sum
    pooling_ndhwc_max pooling_ndhwc_min pooling_ndhwc_sum pooling_nhwc_max pooling_nhwc_max_unsigned
    pooling_nhwc_min pooling_nhwc_min_unsigned pooling_nhwc_sum pooling_nwc_max pooling_nwc_max_unsigned
    pooling_nwc_min pooling_nwc_min_unsigned pooling_nwc_sum powf quantized_batch_matmul quantized_matmul reciprocal
    reduce round rsqrt select softmax sqrt square sub tanh transpose unpack vecmat winograd_filter_transform
    winograd_input_transform winograd_output_transform yield
    """,
    "math": """
    absf absi acos acosh asin asinh atan atan2 atanh cbrt ceil clampf copysign cos cosh ctlz ctpop cttz erf erfc exp
    exp2 expm1 floor fma fpowi ipowi isfinite isinf isnan isnormal log log10 log1p log2 powf round roundeven rsqrt
    sin sincos sinh sqrt tan tanh trunc
    """,
    "memref": """
    alloc alloca alloca_scope alloca_scope.return assume_alignment atomic_rmw atomic_yield cast collapse_shape copy
    dealloc dim distinct_objects dma_start dma_wait expand_shape extract_aligned_pointer_as_index
    extract_strided_metadata generic_atomic_rmw get_global global load memory_space_cast prefetch rank realloc
    reinterpret_cast reshape store subview transpose view
    """,
    "nvgpu": """
    device_async_copy device_async_create_group device_async_wait extf ldmatrix mbarrier.arrive
    mbarrier.arrive.expect_tx mbarrier.arrive.nocomplete mbarrier.create mbarrier.get mbarrier.init
    mbarrier.test.wait mbarrier.try_wait.parity mma.sp.sync mma.sync rcp tma.async.load tma.async.store
    tma.create.descriptor tma.fence.descriptor tma.prefetch.descriptor truncf warpgroup.generate.descriptor
    warpgroup.mma warpgroup.mma.init.accumulator warpgroup.mma.store
    """,
    "scf": """
    condition execute_region for forall forall.in_parallel if index_switch parallel reduce reduce.return while yield
    """,
    "shape": """
    add any assuming assuming_all assuming_yield broadcast concat const_shape const_size const_witness
    cstr_broadcastable cstr_eq cstr_require debug_print dim div from_extent_tensor from_extents func
    function_library get_extent index_to_size is_broadcastable max meet min mul num_elements rank reduce return
    shape_eq shape_of size_to_index split_at to_extent_tensor value_as_shape value_of with_shape yield
    """,
    "sparse_tensor": """
    assemble binary coiterate compress concatenate convert coordinates coordinates_buffer crd_translate disassemble
    expand extract_iteration_space extract_value foreach has_runtime_library iterate load lvl new number_of_entries
    out positions print push_back reduce reinterpret_map reorder_coo select slice.offset slice.stride sort
    storage_specifier.get storage_specifier.init storage_specifier.set unary values yield
    """,
    "tensor": """
    bitcast cast collapse_shape concat dim empty expand_shape extract extract_slice from_elements gather generate
    insert insert_slice pad parallel_insert_slice rank reshape scatter splat yield
    """,
    "transform": """
    alternatives annotate apply_conversion_patterns apply_conversion_patterns.dialect_to_llvm
    apply_conversion_patterns.gpu.gpu_subgroup_reduce_to_nvvm apply_conversion_patterns.gpu.gpu_to_nvvm
    apply_conversion_patterns.gpu.gpu_to_rocdl apply_conversion_patterns.gpu.gpu_wmma_to_nvvm
    apply_conversion_patterns.memref.memref_to_llvm_type_converter apply_conversion_patterns.nvgpu.nvgpu_to_nvvm
    apply_conversion_patterns.scf.scf_to_control_flow apply_conversion_patterns.scf.structural_conversions
    apply_conversion_patterns.vector.vector_to_llvm apply_cse apply_dce apply_licm apply_patterns
    apply_patterns.canonicalization apply_patterns.gpu.eliminate_barriers apply_patterns.gpu.gpu_rewrite_patterns
    apply_patterns.gpu.gpu_shuffle_to_amdgpu apply_patterns.gpu.unroll_vectors_subgroup_mma
    apply_patterns.linalg.data_layout_propagation apply_patterns.linalg.decompose_pack_unpack
    apply_patterns.linalg.decompose_pad apply_patterns.linalg.erase_unnecessary_inputs
    apply_patterns.linalg.extract_slice_sinking apply_patterns.linalg.fold_add_into_dest
    apply_patterns.linalg.fold_pack_unpack_into_empty apply_patterns.linalg.fold_unit_extent_dims_via_reshapes
    apply_patterns.linalg.fold_unit_extent_dims_via_slices apply_patterns.linalg.pad_vectorization
    apply_patterns.linalg.tiling_canonicalization apply_patterns.memref.alloc_to_alloca
    apply_patterns.memref.expand_ops apply_patterns.memref.expand_strided_metadata
    apply_patterns.memref.extract_address_computations apply_patterns.memref.fold_memref_alias_ops
    apply_patterns.memref.resolve_ranked_shaped_type_result_dims apply_patterns.scf.for_loop_canonicalization
    apply_patterns.tensor.bubble_up_extract_slice apply_patterns.tensor.decompose_concat
    apply_patterns.tensor.drop_redundant_insert_slice_rank_expansion apply_patterns.tensor.fold_into_pack_and_unpack
    apply_patterns.tensor.fold_tensor_empty apply_patterns.tensor.fold_tensor_subset_ops
    apply_patterns.tensor.fold_tensor_subset_ops_into_vector_transfers
    apply_patterns.tensor.merge_consecutive_insert_extract_slice apply_patterns.tensor.reassociative_reshape_folding
    apply_patterns.tensor.rewrite_as_constant apply_patterns.vector.cast_away_vector_leading_one_dim
    apply_patterns.vector.drop_inner_most_unit_dims_from_xfer_ops
    apply_patterns.vector.drop_unit_dims_with_shape_cast apply_patterns.vector.elementwise_to_vector
    apply_patterns.vector.flatten_vector_transfer_ops apply_patterns.vector.fold_arith_extension
    apply_patterns.vector.interleave_and_deinterleave_to_shuffle apply_patterns.vector.lower_bitcast
    apply_patterns.vector.lower_broadcast apply_patterns.vector.lower_contraction
    apply_patterns.vector.lower_create_mask apply_patterns.vector.lower_gather
    apply_patterns.vector.lower_interleave apply_patterns.vector.lower_masked_transfers
    apply_patterns.vector.lower_masks apply_patterns.vector.lower_outerproduct apply_patterns.vector.lower_scan
    apply_patterns.vector.lower_shape_cast apply_patterns.vector.lower_step apply_patterns.vector.lower_transfer
    apply_patterns.vector.lower_transpose apply_patterns.vector.materialize_masks
    apply_patterns.vector.multi_reduction_flattening apply_patterns.vector.multi_reduction_unrolling
    apply_patterns.vector.rank_reducing_subview_patterns apply_patterns.vector.reduction_to_contract
    apply_patterns.vector.reorder_multi_reduction_dims apply_patterns.vector.rewrite_narrow_types
    apply_patterns.vector.sink_mem_ops apply_patterns.vector.sink_ops
    apply_patterns.vector.split_transfer_full_partial apply_patterns.vector.transfer_permutation_patterns
    apply_patterns.vector.transfer_to_scf apply_patterns.vector.unroll_from_elements
    apply_patterns.vector.unroll_to_elements apply_patterns.x86.move_accumulator_for_contract_loop
    apply_patterns.x86.shuffle_vector_fma_ops apply_patterns.x86.sink_vector_producer_ops
    apply_patterns.x86.vector_contract_bf16_to_fma apply_patterns.x86.vector_contract_to_amx_dot_product
    apply_patterns.x86.vector_contract_to_fma apply_patterns.x86.vector_contract_to_packed_type_dot_product
    apply_registered_pass bufferization.buffer_loop_hoisting bufferization.eliminate_empty_tensors
    bufferization.empty_tensor_to_alloc_tensor bufferization.one_shot_bufferize cast collect_matching
    debug.emit_param_as_remark debug.emit_remark_at foreach foreach_match get_consumers_of_result get_defining_op
    get_operand get_parent_op get_producer_of_operand get_result get_type gpu.map_forall_to_blocks
    gpu.map_nested_forall_to_threads include loop.coalesce loop.coalesce_nested loop.forall_to_for
    loop.forall_to_parallel loop.fuse_sibling loop.hoist_loop_invariant_subsets loop.outline
    loop.parallel_for_to_nested_fors loop.peel loop.pipeline loop.promote_if_one_iteration loop.unroll
    loop.unroll_and_jam match.operation_empty match.operation_name match.param.cmpi memref.alloca_to_global
    memref.erase_dead_alloc_and_stores memref.make_loop_independent memref.multibuffer merge_handles named_sequence
    num_associations nvgpu.create_async_groups nvgpu.pipeline_shared_memory_copies nvgpu.rewrite_copy_as_tma
    nvgpu.rewrite_matmul_as_mma_sync param.constant payload pdl_match print replicate scf.take_assumed_branch select
    sequence smt.constrain_params sparse_tensor.match.sparse_inout split_handle structured.bufferize_to_allocation
    structured.continuous_tile_sizes structured.convert_conv2d_to_img2col structured.convert_to_loops
    structured.decompose structured.decompose_interface structured.decompose_winograd_op
    structured.eliminate_empty_tensors structured.flatten_elementwise structured.fuse
    structured.fuse_into_containing_op structured.generalize structured.gpu.map_copy_to_threads structured.hoist_pad
    structured.hoist_pad.build_packing_loop_nest structured.hoist_redundant_vector_broadcasts
    structured.hoist_redundant_vector_transfers structured.insert_slice_to_copy structured.interchange
    structured.linalg_copy_to_memref structured.lower_pack structured.lower_unpack structured.match
    structured.multitile_sizes structured.pack structured.pack_greedily structured.pack_transpose structured.pad
    structured.pad_tiling_interface structured.promote structured.promote_tensor structured.replace
    structured.rewrite_in_destination_passing_style structured.scalarize structured.specialize structured.split
    structured.split_reduction structured.tile_reduction_using_for structured.tile_reduction_using_forall
    structured.tile_using_for structured.tile_using_forall structured.transpose_conv2d structured.transpose_matmul
    structured.vectorize structured.vectorize_children_and_apply_patterns structured.winograd_conv2d
    tensor.make_loop_independent tune.alternatives tune.knob type_conversion.tensor.cast_shape_dynamic_dims verify
    with_pdl_patterns xegpu.convert_layout xegpu.get_load_op xegpu.insert_prefetch xegpu.set_anchor_layout
    xegpu.set_gpu_launch_threads yield
    """,
    "ub": """
    poison unreachable
    """,
    "vector": """
    bitcast broadcast compressstore constant_mask contract create_mask deinterleave expandload extract
    extract_strided_slice fma from_elements gather insert insert_strided_slice interleave load mask maskedload
    maskedstore multi_reduction outerproduct print reduction scalable.extract scalable.insert scan scatter
    shape_cast shuffle step store to_elements transfer_read transfer_write transpose type_cast vscale yield
    """,
}
"""By dialect; of other dialects nothing is known."""

PASSES = """
    acc-bind-routine acc-cg-to-gpu acc-compute-lowering acc-declare-gpu-module-insertion acc-emit-remarks-data
    acc-emit-remarks-loop acc-emit-remarks-private acc-if-clause-lowering acc-implicit-data acc-implicit-declare
    acc-implicit-routine acc-legalize-serial acc-loop-tiling acc-recipe-materialization acc-routine-lowering
    acc-routine-to-gpu-func acc-specialize-for-device acc-specialize-for-host acc-to-llvm affine-data-copy-generate
    affine-expand-index-ops affine-expand-index-ops-as-affine affine-fold-memref-alias-ops affine-loop-coalescing
    affine-loop-fusion affine-loop-invariant-code-motion affine-loop-normalize affine-loop-tile affine-loop-unroll
    affine-loop-unroll-jam affine-parallelize affine-pipeline-data-transfer affine-raise-from-memref affine-scalrep
    affine-simplify-min-max affine-simplify-structures affine-simplify-with-bounds affine-super-vectorize
    amdgpu-emulate-atomics amdgpu-maskedload-to-load amdgpu-resolve-strided-metadata
    arith-emulate-unsupported-floats arith-emulate-wide-int arith-expand arith-int-range-narrowing
    arith-unsigned-when-equivalent arm-neon-2d-to-intr arm-sme-outer-product-fusion arm-sme-vector-legalization
    arm-sve-legalize-vector-storage async-func-to-async-runtime async-parallel-for
    async-runtime-policy-based-ref-counting async-runtime-ref-counting async-runtime-ref-counting-opt
    async-to-async-runtime bubble-down-memory-space-casts buffer-deallocation-pipeline
    buffer-deallocation-simplification buffer-hoisting buffer-loop-hoisting buffer-results-to-out-params
    bufferization-lower-deallocations canonicalize composite-fixed-point-pass control-flow-sink
    convert-affine-for-to-gpu convert-amdgpu-to-rocdl convert-arith-to-amdgpu convert-arith-to-apfloat
    convert-arith-to-arm-sme convert-arith-to-emitc convert-arith-to-llvm convert-arith-to-spirv
    convert-arm-sme-to-llvm convert-arm-sme-to-scf convert-async-to-llvm convert-bufferization-to-memref
    convert-cf-to-llvm convert-cf-to-spirv convert-complex-to-libm convert-complex-to-llvm
    convert-complex-to-rocdl-library-calls convert-complex-to-spirv convert-complex-to-standard
    convert-elementwise-to-linalg convert-func-to-emitc convert-func-to-llvm convert-func-to-spirv
    convert-gpu-to-llvm-spv convert-gpu-to-nvvm convert-gpu-to-rocdl convert-gpu-to-spirv convert-index-to-llvm
    convert-index-to-spirv convert-linalg-to-affine-loops convert-linalg-to-loops convert-linalg-to-parallel-loops
    convert-linalg-to-std convert-math-to-apfloat convert-math-to-emitc convert-math-to-funcs convert-math-to-libm
    convert-math-to-llvm convert-math-to-nvvm convert-math-to-rocdl convert-math-to-spirv convert-math-to-xevm
    convert-memref-to-emitc convert-memref-to-spirv convert-nvgpu-to-nvvm convert-nvvm-to-llvm
    convert-openacc-to-scf convert-openmp-to-llvm convert-parallel-loops-to-gpu convert-pdl-to-pdl-interp
    convert-scf-to-cf convert-scf-to-emitc convert-scf-to-openmp convert-scf-to-spirv convert-shape-constraints
    convert-shape-to-std convert-shard-to-mpi convert-spirv-to-llvm convert-tensor-to-linalg convert-tensor-to-spirv
    convert-to-emitc convert-to-llvm convert-ub-to-llvm convert-ub-to-spirv convert-vector-to-amx
    convert-vector-to-arm-sme convert-vector-to-gpu convert-vector-to-llvm convert-vector-to-scf
    convert-vector-to-spirv convert-vector-to-xegpu convert-xegpu-to-xevm convert-xevm-to-llvm cse
    decorate-spirv-composite-type-layout drop-equivalent-buffer-results duplicate-function-elimination
    eliminate-empty-tensors empty-tensor-to-alloc-tensor enable-arm-streaming ensure-debug-info-scope-on-llvm-func
    expand-realloc expand-strided-metadata finalize-memref-to-llvm flatten-memref fold-memref-alias-ops
    fold-tensor-subset-ops form-expressions generate-runtime-verification gpu-async-region gpu-decompose-memrefs
    gpu-eliminate-barriers gpu-kernel-outlining gpu-launch-sink-index-computations gpu-lower-to-nvvm-pipeline
    gpu-lower-to-rocdl-pipeline gpu-lower-to-xevm-pipeline gpu-map-parallel-loops gpu-module-to-binary gpu-to-llvm
    inline int-range-optimizations lift-cf-to-scf linalg-block-pack-matmul linalg-fold-into-elementwise
    linalg-fold-unit-extent-dims linalg-fuse-elementwise-ops linalg-generalize-named-ops
    linalg-inline-scalar-operands linalg-morph-ops linalg-specialize-generic-ops llvm-add-comdats
    llvm-legalize-for-export llvm-optimize-for-nvvm-target llvm-request-c-wrappers llvm-target-to-data-layout
    llvm-target-to-target-features llvm-use-default-visibility loop-invariant-code-motion
    loop-invariant-subset-hoisting lower-affine lower-host-to-llvm lower-quant-ops lower-sparse-foreach-to-scf
    lower-sparse-iteration-to-scf lower-sparse-ops-to-foreach lower-vector-mask lower-vector-multi-reduction
    lower-vector-to-from-elements-to-shuffle-tree map-memref-spirv-storage-class math-expand-ops
    math-extend-to-supported-types math-sincos-fusion math-uplift-to-fma mem2reg memref-elide-reinterpret-cast
    memref-emulate-wide-int memref-expand mlgo-add-reflection-map mlprogram-pipeline-globals normalize-memrefs
    normalize-quant-types nvgpu-optimize-shared-memory nvvm-attach-target offload-livein-value-canonicalization
    offload-target-verifier omp-host-op-filter omp-mark-declare-target omp-offload-privatization-prepare
    omp-stack-to-shared one-shot-bufferize openacc-legalize-data-values optimize-allocation-liveness
    outline-shape-computation ownership-based-buffer-deallocation pre-sparsification-rewrite print-ir print-op-stats
    promote-buffers-to-stack raise-scf-to-affine raise-wasm-mlir reconcile-unrealized-casts reify-result-shapes
    remove-dead-values remove-shape-constraints resolve-ranked-shaped-type-result-dims
    resolve-shaped-type-result-dims rocdl-attach-target scalarize-single-element-tensor-return sccp
    scf-for-loop-canonicalization scf-for-loop-peeling scf-for-loop-range-folding scf-for-loop-specialization
    scf-for-to-while scf-forall-to-for scf-forall-to-parallel scf-parallel-for-to-nested-fors
    scf-parallel-loop-fusion scf-parallel-loop-specialization scf-parallel-loop-tiling set-llvm-module-datalayout
    shape-to-shape-lowering shard-partition shard-simplify sharding-propagation simplify-depthwise-conv
    snapshot-op-locations sparse-assembler sparse-buffer-rewrite sparse-gpu-codegen sparse-reinterpret-map
    sparse-space-collapse sparse-storage-specifier-to-llvm sparse-tensor-codegen sparse-tensor-conversion
    sparse-vectorization sparsification sparsification-and-bufferization sparsifier spirv-attach-target
    spirv-canonicalize-gl spirv-lower-abi-attrs spirv-promote-to-replicated-constants spirv-rewrite-inserts
    spirv-unify-aliased-resource spirv-update-vce spirv-webgpu-prepare sroa stage-sparse-ops
    static-memory-planner-analysis strip-debuginfo strip-func-quant-types symbol-dce symbol-privatize
    test-arm-sme-tile-allocation test-scf-parallel-loop-collapsing topological-sort tosa-arith-const-to-tosa-const
    tosa-attach-target tosa-convert-integer-type-to-signless tosa-downgrade-1-1-to-1-0 tosa-experimental-input-shape
    tosa-infer-shapes tosa-layerwise-constant-fold tosa-make-broadcastable tosa-narrow-f64-to-f32
    tosa-narrow-i64-to-i32 tosa-optional-decompositions tosa-reduce-transposes tosa-to-arith tosa-to-linalg
    tosa-to-linalg-named tosa-to-linalg-pipeline tosa-to-mlprogram tosa-to-scf tosa-to-spirv-tosa
    tosa-to-spirv-tosa-mark-graph-constants tosa-to-tensor tosa-validate transform-dialect-check-uses
    transform-infer-effects transform-interpreter transform-preload-library trivial-dce view-op-graph
    wrap-emitc-func-in-class xegpu-blocking xegpu-optimize-peephole xegpu-propagate-layout
    xegpu-sg-to-lane-distribute xegpu-vector-linearize xegpu-wg-to-sg-distribute xevm-attach-target
"""
