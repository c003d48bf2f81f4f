package io.mallometer.jmx;

import javax.management.DescriptorRead;
import javax.management.MBeanAttributeInfo;
import javax.management.MBeanInfo;
import javax.management.MBeanOperationInfo;
import javax.management.MBeanParameterInfo;
import javax.management.MBeanRegistration;
import javax.management.MBeanServer;
import javax.management.NotificationEmitter;
import javax.management.ObjectName;
import javax.management.StandardEmitterMBean;

/**
 * The MXBean with the descriptions that {@link Attribute} carries, and with the knowledge whether
 * it is registered, so that nobody unregisters another one of the same name.
 */
final class DescribedMBean extends StandardEmitterMBean implements MBeanRegistration {

  private volatile boolean registered;

  private final String description;

  /**
   * An MXBean.
   *
   * @param description what it is, one sentence
   * @param emitter sends its notifications
   */
  <T> DescribedMBean(T bean, Class<T> type, String description, NotificationEmitter emitter) {
    super(bean, type, true, emitter);
    this.description = description;
  }

  boolean registered() {
    return registered;
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
    // Nothing to prevent.
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
