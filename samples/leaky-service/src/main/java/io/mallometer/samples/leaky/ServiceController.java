package io.mallometer.samples.leaky;

import java.sql.SQLException;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;

/** Controls the service over HTTP. */
@RestController
class ServiceController {
  private final LeakSwitches switches;
  private final ReportLoad load;
  private final ReportService reports;

  ServiceController(LeakSwitches switches, ReportLoad load, ReportService reports) {
    this.switches = switches;
    this.load = load;
    this.reports = reports;
  }

  @GetMapping(path = "/", produces = MediaType.TEXT_PLAIN_VALUE)
  String index() {
    return """
        GET  /leaks                        every leak: on or off, what it has lost so far
        POST /leaks/{name}?on=true|false   switches a leak: zlib, sqlite, zstd, jna
        GET  /load                         reports a second, reports so far
        POST /load?reportsPerSecond=N      changes the load, 0 to %d
        GET  /reports/latest               the latest report
        POST /reports                      produces one more, so that a leak keeps memory in a request
        GET  /actuator/prometheus          the scrape
        GET  /actuator/nativememory        native memory, summarised
        GET  /actuator/nativememory/page   the same as a page
        """
        .formatted(ReportLoad.MOST_REPORTS_PER_SECOND);
  }

  @GetMapping("/leaks")
  Map<String, LeakSwitch.State> leaks() {
    Map<String, LeakSwitch.State> byName = new TreeMap<>();
    switches.states().forEach((leak, state) -> byName.put(leak.label(), state));
    return byName;
  }

  @PostMapping("/leaks/{name}")
  LeakSwitch.State turn(@PathVariable String name, @RequestParam boolean on) {
    LeakSwitch leak = switches.of(leakNamed(name));
    leak.turn(on);
    return leak.state();
  }

  @GetMapping("/load")
  LoadState load() {
    return new LoadState(load.reportsPerSecond(), reports.produced());
  }

  @PostMapping("/load")
  LoadState changeLoad(@RequestParam int reportsPerSecond) {
    try {
      load.change(reportsPerSecond);
    } catch (IllegalArgumentException outOfRange) {
      throw new ResponseStatusException(
          HttpStatus.BAD_REQUEST, outOfRange.getMessage(), outOfRange);
    }
    return load();
  }

  @GetMapping(path = "/reports/latest", produces = MediaType.TEXT_PLAIN_VALUE)
  String latestReport() {
    return reports.latest();
  }

  /** Produces a report. The meter native_scope_net_bytes shows the memory that this route leaks. */
  @PostMapping("/reports")
  LoadState produce() throws SQLException, InterruptedException {
    reports.produce();
    return load();
  }

  private static Leak leakNamed(String name) {
    try {
      return Leak.valueOf(name.toUpperCase(Locale.ROOT));
    } catch (IllegalArgumentException unknown) {
      throw new ResponseStatusException(HttpStatus.NOT_FOUND, "no leak is named " + name, unknown);
    }
  }

  record LoadState(int reportsPerSecond, long produced) {}
}
