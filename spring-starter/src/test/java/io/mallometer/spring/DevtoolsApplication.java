package io.mallometer.spring;

import java.lang.management.ManagementFactory;
import javax.management.ObjectName;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.devtools.restart.Restarter;
import org.springframework.context.annotation.Configuration;

/**
 * Lets Spring Boot's development tools restart it in a new class loader, then prints its scrape and
 * ends.
 */
@Configuration(proxyBeanMethods = false)
@EnableAutoConfiguration
public class DevtoolsApplication {

  private static final String STARTED_BEFORE = "started.before";

  public static void main(String[] arguments) throws Exception {
    SpringApplication springApplication = new SpringApplication(DevtoolsApplication.class);
    RunningApplication application = RunningApplication.start(springApplication);
    boolean again = Boolean.getBoolean(STARTED_BEFORE);
    System.setProperty(STARTED_BEFORE, "true");
    if (again) {
      print(application);
      System.exit(0);
    }
    Restarter.getInstance().restart();
  }

  private static void print(RunningApplication application) throws Exception {
    System.out.println(DevtoolsApplication.class.getClassLoader().getClass().getSimpleName());
    System.out.println(application.get("/actuator/prometheus"));
    int mbeans =
        ManagementFactory.getPlatformMBeanServer()
            .queryNames(new ObjectName("io.mallometer:*"), null)
            .size();
    long pollers =
        Thread.getAllStackTraces().keySet().stream()
            .filter(thread -> thread.getName().equals("mallometer-poller"))
            .count();
    System.out.println("MBeans: " + mbeans + ", pollers: " + pollers);
  }
}
