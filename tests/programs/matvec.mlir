func.func @apply(%matrix: tensor<100x37xf32>, %vector: tensor<37xf32>, %start: tensor<100xf32>) -> tensor<100xf32> {
  %out = linalg.matvec ins(%matrix, %vector : tensor<100x37xf32>, tensor<37xf32>)
    outs(%start : tensor<100xf32>) -> tensor<100xf32>
  return %out : tensor<100xf32>
}
