func.func @updated(%x: memref<64xi32>, %y: memref<64xi32>,
    %old: memref<8xi32>, %two: memref<8xi32>, %read: memref<8xi32>, %last: memref<8xi32>, %any: memref<?xi32>, %large: memref<90000xi32>, %fine: memref<8xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 64 : index
  %mask = arith.constant 7 : i32
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    %v = memref.load %x[%i] : memref<64xi32>
    %b = arith.andi %v, %mask : i32
    %k = arith.index_cast %b : i32 to index
    %was = memref.atomic_rmw addi %v, %old[%k] : (i32, memref<8xi32>) -> i32
    memref.store %was, %x[%i] : memref<64xi32>
    memref.atomic_rmw addi %v, %two[%k] : (i32, memref<8xi32>) -> i32
    memref.atomic_rmw maxs %v, %two[%k] : (i32, memref<8xi32>) -> i32
    memref.atomic_rmw addi %v, %read[%k] : (i32, memref<8xi32>) -> i32
    %now = memref.load %read[%k] : memref<8xi32>
    memref.store %now, %y[%i] : memref<64xi32>
    memref.atomic_rmw assign %v, %last[%k] : (i32, memref<8xi32>) -> i32
    memref.atomic_rmw addi %v, %any[%k] : (i32, memref<?xi32>) -> i32
    memref.atomic_rmw addi %v, %large[%k] : (i32, memref<90000xi32>) -> i32
    memref.atomic_rmw addi %v, %fine[%k] : (i32, memref<8xi32>) -> i32
    scf.reduce
  }
  return
}
