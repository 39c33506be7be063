"""Tables 1 to 4 of xenaki2014, regenerated next to what is printed there."""
