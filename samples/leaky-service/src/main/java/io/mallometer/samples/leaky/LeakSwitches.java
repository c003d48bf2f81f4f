package io.mallometer.samples.leaky;

import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;

final class LeakSwitches {
  private final Map<Leak, LeakSwitch> switches;

  LeakSwitches(Map<Leak, LeakSwitch> switches) {
    this.switches = new EnumMap<>(switches);
  }

  LeakSwitch of(Leak leak) {
    return Objects.requireNonNull(switches.get(leak));
  }

  Map<Leak, LeakSwitch.State> states() {
    Map<Leak, LeakSwitch.State> states = new EnumMap<>(Leak.class);
    switches.forEach((leak, leakSwitch) -> states.put(leak, leakSwitch.state()));
    return states;
  }
}
