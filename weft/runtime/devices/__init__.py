"""The interface of devices to the runner, and the reports of launches: data that all devices share."""
