package io.mallometer.samples.leaky;

import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.scheduling.annotation.EnableScheduling;

/** A report service with leaks that can be switched on. */
@SpringBootApplication
@EnableScheduling
@EnableConfigurationProperties(LeakyProperties.class)
public class LeakyServiceApplication {

  /** Starts the service. */
  public static void main(String[] arguments) {
    SpringApplication.run(LeakyServiceApplication.class, arguments);
  }

  @Bean
  LeakSwitches leakSwitches(LeakyProperties properties) {
    LeakyProperties.Leaks leaks = properties.leaks();
    ResidentSet resident = new ResidentSet(leaks.resident(), System::nanoTime);
    Map<Leak, LeakSwitch> switches =
        Stream.of(Leak.values())
            .collect(
                Collectors.toMap(
                    Function.identity(),
                    leak ->
                        new LeakSwitch(
                            leaks.rate(), leaks.cap(), resident::isFull, System::nanoTime)));
    leaks.on().forEach(leak -> switches.get(leak).turn(true));
    return new LeakSwitches(switches);
  }

  @Bean(destroyMethod = "close")
  ReportIndex reportIndex(LeakSwitches switches) {
    return new ReportIndex(switches.of(Leak.SQLITE));
  }

  @Bean
  ReportArchive reportArchive(LeakSwitches switches) {
    return new ReportArchive(switches.of(Leak.ZLIB));
  }

  @Bean
  ColdStorage coldStorage(LeakSwitches switches) {
    return new ColdStorage(switches.of(Leak.ZSTD));
  }

  @Bean
  PrintSpool printSpool(LeakSwitches switches) {
    return new PrintSpool(switches.of(Leak.JNA));
  }

  @Bean
  TransferBuffers transferBuffers() {
    return new TransferBuffers();
  }

  @Bean
  ReportLoad reportLoad(ReportService reports, LeakyProperties properties) {
    return new ReportLoad(reports, properties.load().reportsPerSecond(), System::nanoTime);
  }
}
