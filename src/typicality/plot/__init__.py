"""Pictures of results: Display objects, in the manner of scikit-learn. They need matplotlib."""

from typicality.plot.lambda_path import LambdaPathDisplay

__all__ = ["LambdaPathDisplay"]
