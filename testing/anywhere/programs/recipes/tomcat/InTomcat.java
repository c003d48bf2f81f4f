import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import org.apache.catalina.startup.Bootstrap;

/**
 * Starts Tomcat as its script does, and obeys its input: "observe" tells of the port and of MBeans, "undeploy NAME" takes a
 * web application away as people do, by deleting its file. Ends Tomcat with the input.
 */
public final class InTomcat {

  private static final MBeanServer SERVER = ManagementFactory.getPlatformMBeanServer();

  private InTomcat() {}

  public static void main(String[] arguments) throws Exception {
    copy(Path.of(System.getProperty("recipe.base")), Path.of(System.getProperty("catalina.base")));
    Bootstrap tomcat = new Bootstrap();
    tomcat.init();
    tomcat.start();
    System.out.println("ready");
    BufferedReader input = new BufferedReader(new InputStreamReader(System.in));
    String line;
    while ((line = input.readLine()) != null) {
      if (line.equals("observe")) {
        System.out.println("observed: " + observed());
      } else {
        Files.delete(Path.of(System.getProperty("catalina.base"), "webapps", line.split(" ")[1] + ".war"));
      }
    }
    tomcat.stop();
    System.out.println("done");
    System.exit(7);
  }

  private static String observed() throws Exception {
    ObjectName connector = SERVER.queryNames(new ObjectName("Catalina:type=Connector,*"), null).iterator().next();
    List<String> applications = SERVER.queryNames(new ObjectName("Catalina:j2eeType=WebModule,*"), null).stream()
        .map(name -> name.getKeyProperty("name").replaceAll(".*/", ""))
        .sorted()
        .toList();
    List<String> beans = SERVER.queryNames(new ObjectName("io.mallometer:*"), null).stream()
        .map(name -> name.getKeyProperty("type"))
        .sorted()
        .toList();
    return "port=" + SERVER.getAttribute(connector, "localPort") + " applications=" + applications + " beans=" + beans;
  }

  /** Each process has a directory of its own, which Tomcat writes to. */
  private static void copy(Path from, Path to) throws IOException {
    try (Stream<Path> files = Files.walk(from)) {
      for (Path file : files.sorted(Comparator.naturalOrder()).toList()) {
        Files.copy(file, to.resolve(from.relativize(file).toString()));
      }
    }
  }
}
