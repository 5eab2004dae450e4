"""Which processor owns which element: the maps of a schedule, evaluated by a launch, and shown in a terminal or as a
picture."""
