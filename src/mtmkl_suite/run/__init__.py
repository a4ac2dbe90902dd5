"""Running a configuration: plan, cache, folders, jobs."""
