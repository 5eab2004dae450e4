"""Which processor owns which element: the maps of a schedule, evaluated by a launch, as text and as a picture."""
