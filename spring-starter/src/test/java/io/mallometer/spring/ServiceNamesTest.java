package io.mallometer.spring;

import static org.assertj.core.api.Assertions.assertThat;

import io.mallometer.KnowsEverything;
import io.mallometer.Promtool;
import io.mallometer.PublicNames;
import io.mallometer.Published;
import io.mallometer.ShownNames;
import io.mallometer.internal.history.Recordings;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import javax.management.JMException;
import javax.management.MBeanAttributeInfo;
import javax.management.MBeanInfo;
import javax.management.MBeanNotificationInfo;
import javax.management.MBeanOperationInfo;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import javax.management.openmbean.ArrayType;
import javax.management.openmbean.CompositeType;
import javax.management.openmbean.OpenType;
import javax.management.openmbean.TabularType;
import jdk.jfr.EventType;
import jdk.jfr.FlightRecorder;
import jdk.jfr.Recording;
import jdk.jfr.ValueDescriptor;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.condition.EnabledIf;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.actuate.endpoint.annotation.AbstractDiscoveredOperation;
import org.springframework.boot.actuate.endpoint.invoke.OperationParameter;
import org.springframework.boot.actuate.endpoint.web.WebEndpointsSupplier;
import org.springframework.boot.actuate.endpoint.web.WebOperation;
import org.springframework.boot.json.JsonParserFactory;

/**
 * Compares every name that an application shows with the file of public names, in both directions.
 * The fake {@link KnowsEverything} also shows names that are rarely shown.
 */
@Tag("application")
@EnabledIf("io.mallometer.spring.Matrix#preloaded")
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
@Tag("any-jdk")
@Tag("newest-boot")
class ServiceNamesTest {

  private static final String ENDPOINT = "/actuator/nativememory";

  @TempDir private static Path directory;

  private static KnowsEverything everything;
  private static RunningApplication counting;
  private static RunningApplication knowing;

  @BeforeAll
  static void start() throws Exception {
    counting = RunningApplication.start(arguments());
    everything = new KnowsEverything(Recordings.grownToTheLimit(directory.resolve("recording")));
    knowing =
        RunningApplication.with(
            everything.mallometer(), arguments("--mallometer.scopes.enabled=true"));
    NativeScopeMeters scopes = knowing.context().getBean(NativeScopeMeters.class);
    scopes.add(NativeScopeMeters.Scope.named("a method"), 1, 1);
    for (NativeScopeMeters.Gap gap : NativeScopeMeters.Gap.values()) {
      scopes.miss(NativeScopeMeters.Scope.named("a method"), gap);
    }
  }

  private static String[] arguments(String... more) {
    String[] usual = {
      "--mallometer.poll-interval=50ms",
      "--mallometer.trim.minimum-interval=0s",
      "--management.endpoints.web.exposure.include=prometheus,nativememory,metrics,health,info",
      "--management.endpoint.nativememory.access=unrestricted",
      "--management.endpoint.health.show-details=always",
      "--management.info.nativememory.enabled=true"
    };
    return Stream.concat(Stream.of(usual), Stream.of(more)).toArray(String[]::new);
  }

  @AfterAll
  static void stop() {
    knowing.close();
    everything.close();
    counting.close();
  }

  @Test
  void series() {
    check("series", application -> series(application, false));
  }

  @Test
  void seriesOfTheStarterAlone() {
    check("series of the starter", application -> series(application, true));
  }

  @Test
  void meters() {
    check("meters of Micrometer", ServiceNamesTest::meters);
  }

  /**
   * Trims memory. The trimmable bytes are unknown for a while after a trim, so this test runs last.
   */
  @Test
  @Order(Integer.MAX_VALUE)
  void answers() {
    for (RunningApplication application : List.of(counting, knowing)) {
      PublicNames.checkAnswers(answersAndTrim(application));
    }
  }

  @Test
  void healthAndInfo() {
    Set<String> inSomeStates = new TreeSet<>(details(knowing));
    everything.counts(false);
    inSomeStates.addAll(details(knowing));
    everything.counts(true);
    ShownNames.addKeys(
        inSomeStates,
        "health.nativeMemory.details",
        NativeMemoryDetails.health(CountingNoticeTest.attached()));
    String section = "health and info";
    PublicNames.check(section, PublicNames.await(section, () -> details(counting)), inSomeStates);
  }

  private static void check(
      String section, Function<RunningApplication, Collection<String>> names) {
    PublicNames.check(
        section, PublicNames.await(section, () -> names.apply(counting)), names.apply(knowing));
  }

  private static Collection<String> series(RunningApplication application, boolean scopes) {
    return ShownNames.series(
        Published.parse(application.get("/actuator/prometheus")).stream()
            .filter(sample -> sample.name().matches("(native|cgroup|mallometer)_.*"))
            .filter(sample -> sample.name().startsWith("native_scope_") == scopes)
            .toList());
  }

  private static Collection<String> meters(RunningApplication application) {
    return ((List<?>) application.json("/actuator/metrics").get("names"))
        .stream()
            .map(Object::toString)
            .filter(name -> name.matches("(native|cgroup|mallometer)\\..*"))
            .toList();
  }

  private static Set<String> answersAndTrim(RunningApplication application) {
    String owners =
        application.send("POST", "local.server.port", ENDPOINT + "/owners/7?links=8").body();
    Set<String> names = answers(application);
    ShownNames.addAnswer(names, "owner-report", parsed(owners));
    String trim = application.send("POST", "local.server.port", ENDPOINT + "/trim").body();
    ShownNames.addAnswer(names, "trim", parsed(trim));
    return names;
  }

  static Set<String> answers(RunningApplication application) {
    return ShownNames.answers(path -> body(application, path), ServiceNamesTest::parsed);
  }

  static Collection<String> details(RunningApplication application) {
    Set<String> names = new TreeSet<>();
    ShownNames.addKeys(
        names, "health.nativeMemory", application.json("/actuator/health/nativeMemory"));
    ShownNames.addKeys(
        names, "info.nativeMemory", application.json("/actuator/info").get("nativeMemory"));
    return names;
  }

  private static String body(RunningApplication application, String path) {
    return application.response(ENDPOINT + path).body();
  }

  private static Object parsed(String json) {
    return json.startsWith("[")
        ? JsonParserFactory.getJsonParser().parseList(json)
        : JsonParserFactory.getJsonParser().parseMap(json);
  }

  @Test
  @Tag("process")
  void prometheusOwnLinterHasNothingToSay() throws Exception {
    Promtool.assumeIsThere();
    for (RunningApplication application : List.of(counting, knowing)) {
      String scrape = application.send("GET", "local.server.port", "/actuator/prometheus").body();
      assertThat(scrape).contains("mallometer_build_info");
      assertThat(Promtool.complaintsAboutOurs(scrape)).isEmpty();
    }
  }

  @Test
  void addresses() {
    Set<String> names = new TreeSet<>();
    counting.context().getBean(WebEndpointsSupplier.class).getEndpoints().stream()
        .filter(endpoint -> endpoint.getEndpointId().equals(NativeMemoryEndpoint.ID))
        .flatMap(endpoint -> endpoint.getOperations().stream())
        .forEach(operation -> names.add(address(operation)));
    for (String listed : PublicNames.names("addresses of the endpoint")) {
      String[] words = listed.split(" ");
      // A path with /leaks/ names a call site that only KnowsEverything has.
      RunningApplication asked = listed.contains("/leaks/") ? knowing : counting;
      if (!listed.matches(".*[{?].*")
          && asked.send(words[0], "local.server.port", words[1]).statusCode() != 404) {
        names.add(listed);
      }
    }
    PublicNames.check("addresses of the endpoint", names);
    PublicNames.check(
        "views and parameters",
        ShownNames.views(path -> body(counting, path), ServiceNamesTest::parsed));
  }

  private static String address(WebOperation operation) {
    var parameters = ((AbstractDiscoveredOperation) operation).getOperationMethod().getParameters();
    return operation.getRequestPredicate().getHttpMethod()
        + " /actuator/"
        + operation.getRequestPredicate().getPath()
        + StreamSupport.stream(parameters.spliterator(), false)
            .map(OperationParameter::getName)
            .filter(name -> !operation.getRequestPredicate().getPath().contains("{" + name + "}"))
            .sorted()
            .collect(Collectors.joining("&", "?", ""))
            .replaceFirst("\\?$", "");
  }

  @Test
  void managedBeans() throws JMException {
    MBeanServer server = ManagementFactory.getPlatformMBeanServer();
    Set<String> names = new TreeSet<>();
    for (ObjectName bean : server.queryNames(new ObjectName("io.mallometer:*"), null)) {
      MBeanInfo info = server.getMBeanInfo(bean);
      for (MBeanAttributeInfo attribute : info.getAttributes()) {
        addType(
            names,
            bean + " " + attribute.getName(),
            attribute.getDescriptor().getFieldValue("openType"));
      }
      for (MBeanOperationInfo operation : info.getOperations()) {
        String parameters =
            List.of(operation.getSignature()).stream()
                .map(parameter -> simple(parameter.getType()) + " " + parameter.getName())
                .collect(Collectors.joining(", ", "(", ")"));
        addType(
            names,
            bean + " " + operation.getName() + parameters,
            operation.getDescriptor().getFieldValue("openType"));
      }
      for (MBeanNotificationInfo notification : info.getNotifications()) {
        List.of(notification.getNotifTypes())
            .forEach(type -> names.add(bean + " notification " + type));
      }
    }
    PublicNames.check("MBeans", names);
  }

  private static void addType(Set<String> names, String path, Object type) {
    if (type instanceof ArrayType<?> array) {
      addType(names, path + "[]", array.getElementOpenType());
    } else if (type instanceof TabularType table) {
      addType(names, path + "{}", table.getRowType().getType("value"));
    } else if (type instanceof CompositeType composite) {
      for (String key : composite.keySet()) {
        addType(names, path + "." + key, composite.getType(key));
      }
    } else {
      names.add(path + ": " + simple(((OpenType<?>) type).getTypeName()));
    }
  }

  private static String simple(String type) {
    return type.substring(type.lastIndexOf('.') + 1);
  }

  @Test
  void eventsOfFlightRecorder() {
    Set<String> names = new TreeSet<>();
    try (Recording recording = new Recording()) {
      recording.start();
      for (EventType type : FlightRecorder.getFlightRecorder().getEventTypes()) {
        if (type.getName().startsWith("io.mallometer.")) {
          for (ValueDescriptor field : type.getFields()) {
            names.add(type.getName() + " " + field.getName() + ": " + simple(field.getTypeName()));
          }
        }
      }
    }
    PublicNames.check("events of Flight Recorder", names);
  }
}
