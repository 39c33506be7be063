# What R gives for Iris: Rscript tests/reference/r_output.R > tests/reference/r_output.json
# Memberships are those of every tenth row.
library(e1071)
library(cluster)

x <- as.matrix(iris[, 1:4])
tenth <- seq(1, 150, by = 10)
start <- matrix(0.25, 150, 3)
start[cbind(1:150, rep(1:3, each = 50))] <- 0.5
weight <- rep(1:3, 50)
tight <- list(reltol = 1e-16)

numbers <- function(a) paste(sprintf("%.15g", a), collapse = ", ")
rows <- function(a) paste0("[", paste(apply(a, 1, function(r) paste0("[", numbers(r), "]")), collapse = ",\n  "), "]")
entry <- function(name, text) sprintf('"%s": %s', name, text)

plain <- cmeans(x, x[c(1, 51, 101), ], m = 2, iter.max = 10000, control = tight)
weighted <- cmeans(x, x[c(1, 51, 101), ], m = 1.5, iter.max = 10000, weights = weight, control = tight)
squared <- fanny(x, 3, metric = "SqEuclidean", iniMem.p = start, maxit = 5000)
plain_distances <- fanny(x, 3, memb.exp = 1.5, iniMem.p = start, maxit = 5000)

cat("{\n", paste(c(
  entry("R", sprintf('"%s"', getRversion())),
  entry("e1071", sprintf('"%s"', packageVersion("e1071"))),
  entry("cluster", sprintf('"%s"', packageVersion("cluster"))),
  entry("cmeans_centers", rows(plain$centers)),
  entry("cmeans_membership", rows(plain$membership[tenth, ])),
  entry("cmeans_withinerror", numbers(plain$withinerror)),
  entry("cmeans_weighted_centers", rows(weighted$centers)),
  entry("cmeans_weighted_membership", rows(weighted$membership[tenth, ])),
  entry("fanny_squared_membership", rows(squared$membership[tenth, ])),
  entry("fanny_membership", rows(plain_distances$membership[tenth, ])),
  entry("fanny_objective", numbers(plain_distances$objective[["objective"]])),
  entry("fanny_coeff", paste0("[", numbers(plain_distances$coeff), "]"))
), collapse = ",\n"), "\n}\n", sep = "")
