package anywhere;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.Deflater;
import javax.management.JMException;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;

/**
 * A Spring Boot application (2.7 and newer) without code for mallometer. After "observe" on its input it allocates
 * native memory and prints mallometer's MBeans.
 */
@Configuration(proxyBeanMethods = false)
@EnableAutoConfiguration
public class App {

  private static final int EXIT_CODE = 7;

  private static final List<Deflater> KEPT = new ArrayList<>();

  public static void main(String[] arguments) throws IOException {
    ConfigurableApplicationContext context = SpringApplication.run(App.class, arguments);
    System.out.println("ready");
    BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    String line;
    while ((line = input.readLine()) != null) {
      if (line.equals("observe")) {
        keepDeflaters();
        System.out.println("observed: " + mallometer());
      }
    }
    context.close();
    System.out.println("done");
    System.exit(EXIT_CODE);
  }

  private static void keepDeflaters() {
    for (int i = 0; i < 10; i++) {
      Deflater deflater = new Deflater();
      deflater.setInput(new byte[1000]);
      deflater.deflate(new byte[100]);
      KEPT.add(deflater);
    }
  }

  private static String mallometer() {
    MBeanServer server = ManagementFactory.getPlatformMBeanServer();
    try {
      if (server.queryNames(new ObjectName("io.mallometer:*"), null).isEmpty()) {
        return "no MBean";
      }
      ObjectName memory = new ObjectName("io.mallometer:type=NativeMemory");
      ObjectName sites = new ObjectName("io.mallometer:type=CallSites");
      server.getAttribute(sites, "TopSites");
      return "active="
          + server.getAttribute(memory, "Active")
          + " allocations="
          + server.getAttribute(memory, "AllocationCount")
          + " resident="
          + server.getAttribute(memory, "ResidentBytes")
          + " sites="
          + server.invoke(sites, "export", new Object[] {"collapsed", "live"}, new String[] {String.class.getName(), String.class.getName()})
              .toString()
              .replace('\n', '|');
    } catch (JMException e) {
      return e.toString();
    }
  }
}
