import java.util.Arrays;
import javax.management.MBeanAttributeInfo;
import javax.management.MBeanServerConnection;
import javax.management.ObjectName;
import javax.management.remote.JMXConnector;
import javax.management.remote.JMXConnectorFactory;
import javax.management.remote.JMXServiceURL;

/**
 * Prints every attribute of the native memory MBean of another JVM as {@code name=value}, read over
 * remote JMX like a monitoring tool. Run it with {@code java ReadNativeMemory.java HOST:PORT}.
 */
final class ReadNativeMemory {
  public static void main(String[] arguments) throws Exception {
    var address = new JMXServiceURL("service:jmx:rmi:///jndi/rmi://" + arguments[0] + "/jmxrmi");
    var name = new ObjectName("io.mallometer:type=NativeMemory");
    try (JMXConnector connector = JMXConnectorFactory.connect(address)) {
      MBeanServerConnection server = connector.getMBeanServerConnection();
      String[] names =
          Arrays.stream(server.getMBeanInfo(name).getAttributes())
              .map(MBeanAttributeInfo::getName)
              .toArray(String[]::new);
      server.getAttributes(name, names).asList().stream()
          .map(attribute -> attribute.getName() + "=" + attribute.getValue())
          .forEach(System.out::println);
    }
  }
}
