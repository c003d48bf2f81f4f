package io.mallometer.jmx;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import javax.management.Attribute;
import javax.management.AttributeList;
import javax.management.AttributeNotFoundException;
import javax.management.DescriptorRead;
import javax.management.ImmutableDescriptor;
import javax.management.MBeanAttributeInfo;
import javax.management.MBeanException;
import javax.management.MBeanInfo;
import javax.management.MBeanOperationInfo;
import javax.management.MBeanParameterInfo;
import javax.management.MBeanRegistration;
import javax.management.MBeanServer;
import javax.management.NotificationEmitter;
import javax.management.ObjectName;
import javax.management.ReflectionException;
import javax.management.StandardEmitterMBean;
import javax.management.openmbean.OpenMBeanAttributeInfoSupport;
import javax.management.openmbean.OpenMBeanOperationInfoSupport;
import javax.management.openmbean.OpenMBeanParameterInfo;
import javax.management.openmbean.OpenMBeanParameterInfoSupport;
import javax.management.openmbean.OpenType;
import javax.management.openmbean.SimpleType;
import org.jspecify.annotations.Nullable;

/**
 * An MXBean with descriptions from {@link Description}, and with the attributes of {@link
 * MeterAttributes}. It remembers whether it is registered, so that {@link Registration} never
 * unregisters another MBean with the same name.
 */
final class DescribedMBean extends StandardEmitterMBean implements MBeanRegistration {

  /** The operation {@code text}. It is for JConsole, which shows tables badly. */
  private static final MBeanOperationInfo TEXT =
      new OpenMBeanOperationInfoSupport(
          "text",
          "An attribute as text for people",
          new OpenMBeanParameterInfo[] {
            new OpenMBeanParameterInfoSupport(
                "attribute", "Name of the attribute, such as Verdicts", SimpleType.STRING)
          },
          SimpleType.STRING,
          MBeanOperationInfo.INFO);

  private final MeterAttributes figures;
  private final Class<?> contract;
  private final String description;
  private volatile boolean registered;

  /**
   * Creates an MXBean.
   *
   * @param details answers requests for operations, and for all attributes that are not in {@code
   *     figures}
   * @param contract the interface for typed clients
   */
  <T> DescribedMBean(
      MeterAttributes figures,
      T details,
      Class<T> detailsType,
      Class<? extends T> contract,
      String description,
      NotificationEmitter emitter) {
    super(details, detailsType, true, emitter);
    this.figures = figures;
    this.contract = contract;
    this.description = description;
  }

  boolean registered() {
    return registered;
  }

  @Override
  public @Nullable Object getAttribute(String name)
      throws AttributeNotFoundException, MBeanException, ReflectionException {
    return figures.has(name) ? figures.value(name) : super.getAttribute(name);
  }

  @Override
  public @Nullable Object invoke(String action, Object[] arguments, String[] signature)
      throws MBeanException, ReflectionException {
    if (!action.equals(TEXT.getName()) || arguments.length != 1) {
      return super.invoke(action, arguments, signature);
    }
    try {
      return OpenText.of(getAttribute(String.valueOf(arguments[0])));
    } catch (AttributeNotFoundException e) {
      throw new MBeanException(new IllegalArgumentException(e.getMessage()));
    }
  }

  @Override
  public AttributeList getAttributes(String[] names) {
    AttributeList values = new AttributeList();
    for (String name : names) {
      if (figures.has(name)) {
        add(name, values);
      } else {
        values.addAll(super.getAttributes(new String[] {name}));
      }
    }
    return values;
  }

  private void add(String name, AttributeList values) {
    try {
      values.add(new Attribute(name, figures.value(name)));
    } catch (RuntimeException e) {
      return; // An attribute that cannot be read is omitted, as in StandardMBean.
    }
  }

  /**
   * Returns the name of the interface for clients, so that the query {@code Query.isInstanceOf}
   * finds the MBean by it.
   */
  @Override
  protected String getClassName(MBeanInfo info) {
    return contract.getName();
  }

  @Override
  public MBeanInfo getMBeanInfo() {
    MBeanInfo details = super.getMBeanInfo();
    List<MBeanAttributeInfo> attributes = new ArrayList<>();
    for (MBeanAttributeInfo attribute : details.getAttributes()) {
      attributes.add(typed(attribute));
    }
    // Registration does not need these attributes, and describing them takes time.
    if (registered) {
      attributes.addAll(figures.describe());
    }
    return new MBeanInfo(
        details.getClassName(),
        details.getDescription(),
        attributes.toArray(MBeanAttributeInfo[]::new),
        details.getConstructors(),
        Stream.concat(Stream.of(details.getOperations()).map(this::typed), Stream.of(TEXT))
            .toArray(MBeanOperationInfo[]::new),
        details.getNotifications(),
        new ImmutableDescriptor(
            "immutableInfo=true", "interfaceClassName=" + contract.getName(), "mxbean=true"));
  }

  /**
   * Adds the open type to the description of an attribute that is a record or a list of records.
   */
  private MBeanAttributeInfo typed(MBeanAttributeInfo info) {
    Optional<OpenType<?>> type = typeOfRows(info, info.getType());
    return type.isEmpty()
        ? info
        : new OpenMBeanAttributeInfoSupport(
            info.getName(), info.getDescription(), type.get(), true, false, false);
  }

  private MBeanOperationInfo typed(MBeanOperationInfo info) {
    Optional<OpenType<?>> type = typeOfRows(info, info.getReturnType());
    return type.isEmpty()
        ? info
        : new MBeanOperationInfo(
            info.getName(),
            info.getDescription(),
            info.getSignature(),
            info.getReturnType(),
            info.getImpact(),
            new ImmutableDescriptor(Map.of("openType", type.get())));
  }

  /**
   * Returns the open type of a record or of a list of records; empty for other types. Also returns
   * empty while the bean is not registered, because no client can read the type yet.
   */
  private Optional<OpenType<?>> typeOfRows(DescriptorRead info, String type) {
    String kind = field(info, "rows", Record.class.getName());
    if (!registered || kind.equals(Record.class.getName())) {
      return Optional.empty();
    }
    try {
      Class<?> known = Class.forName(kind, true, contract.getClassLoader());
      return Optional.of(
          type.startsWith("[") ? OpenRecords.tableOf(known) : OpenRecords.type(known));
    } catch (ClassNotFoundException e) {
      throw new IllegalStateException("the class is named in a constant of the program", e);
    }
  }

  @Override
  protected String getDescription(MBeanInfo info) {
    return description;
  }

  @Override
  protected String getDescription(MBeanAttributeInfo info) {
    return meaning(info, super.getDescription(info));
  }

  @Override
  protected String getDescription(MBeanOperationInfo info) {
    return meaning(info, super.getDescription(info));
  }

  @Override
  protected String getDescription(
      MBeanOperationInfo operation, MBeanParameterInfo parameter, int sequence) {
    return meaning(parameter, super.getDescription(operation, parameter, sequence));
  }

  @Override
  protected String getParameterName(
      MBeanOperationInfo operation, MBeanParameterInfo parameter, int sequence) {
    return field(
        parameter, "parameterName", super.getParameterName(operation, parameter, sequence));
  }

  @Override
  public ObjectName preRegister(MBeanServer server, ObjectName name) {
    return name;
  }

  @Override
  public void postRegister(Boolean done) {
    registered = done;
  }

  @Override
  public void preDeregister() {
    // The MBean may be removed at any time.
  }

  @Override
  public void postDeregister() {
    registered = false;
  }

  private static String meaning(DescriptorRead info, String otherwise) {
    return field(info, "meaning", otherwise);
  }

  private static String field(DescriptorRead info, String field, String otherwise) {
    return info.getDescriptor().getFieldValue(field) instanceof String value ? value : otherwise;
  }
}
