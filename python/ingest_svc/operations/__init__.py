"""Operations: what is asked for, done or not done as a whole, watched, cancelled, gone on with.

`runner` is no part of this front: it runs the pipeline, which needs what stands here.
"""

from ingest_svc.operations.job import ArtifactKey, Job, Stage
from ingest_svc.operations.outcome import packed_outcome
from ingest_svc.operations.under_way import Live, Operations

__all__ = ["ArtifactKey", "Job", "Live", "Operations", "Stage", "packed_outcome"]
