package io.mallometer.jmx;

import io.mallometer.Mallometer;
import java.lang.management.ManagementFactory;
import java.util.List;
import javax.management.MBeanServer;
import javax.management.NotificationBroadcasterSupport;

/**
 * Registers the MBeans {@code io.mallometer:type=Diagnosis}, {@code NativeMemory}, {@code
 * Allocator}, {@code CallSites} and {@code LeakDetector}.
 *
 * <p>Another object, for example in a second web application, may already have registered a name.
 * The MBean is then registered when the name is free. Closing unregisters only the MBeans of this
 * object.
 */
public final class NativeMemoryMBeans implements AutoCloseable {

  /** The name of the MBean of the diagnosis. */
  public static final String DIAGNOSIS_NAME = "io.mallometer:type=Diagnosis";

  /** The name of the MBean of the memory of the process. */
  public static final String NAME = "io.mallometer:type=NativeMemory";

  /** The name of the allocator's MBean. */
  public static final String ALLOCATOR_NAME = "io.mallometer:type=Allocator";

  /** The name of the call sites' MBean. */
  public static final String CALL_SITES_NAME = "io.mallometer:type=CallSites";

  /** The name of the MBean of call sites that leak or are suspected. */
  public static final String LEAK_DETECTOR_NAME = "io.mallometer:type=LeakDetector";

  private final List<Registration> registrations;
  private final List<Notifications> notifications;

  private NativeMemoryMBeans(List<Registration> registrations, Notifications... notifications) {
    this.registrations = registrations;
    this.notifications = List.of(notifications);
  }

  /**
   * Registers with the platform's MBean server. Never throws: if a security manager forbids it,
   * {@link #registered()} is false.
   */
  public static NativeMemoryMBeans register(Mallometer mallometer) {
    try {
      return register(mallometer, ManagementFactory.getPlatformMBeanServer());
    } catch (SecurityException e) {
      return new NativeMemoryMBeans(List.of());
    }
  }

  /** Registers with an MBean server. Never throws: a failure is logged. */
  public static NativeMemoryMBeans register(Mallometer mallometer, MBeanServer server) {
    Notifications huge = Notifications.ofHugeAllocations(mallometer);
    Notifications monitors = Notifications.ofMonitors(mallometer);
    Notifications leaks = Notifications.ofLeaks(mallometer);
    return new NativeMemoryMBeans(
        List.of(
            Registration.of(
                server,
                DIAGNOSIS_NAME,
                () ->
                    new DescribedMBean(
                        new MeterAttributes(mallometer, "Diagnosis"),
                        new DiagnosisBean(mallometer),
                        Described.OfDiagnosis.class,
                        DiagnosisMXBean.class,
                        "The diagnosis on the native memory of this process",
                        new NotificationBroadcasterSupport())),
            Registration.of(
                server,
                NAME,
                () ->
                    new DescribedMBean(
                        new MeterAttributes(mallometer, "NativeMemory"),
                        new NativeMemoryBean(mallometer),
                        Described.OfNativeMemory.class,
                        NativeMemoryMXBean.class,
                        "Native memory of this process, counted at every malloc and free",
                        monitors)),
            Registration.of(
                server,
                ALLOCATOR_NAME,
                () ->
                    new DescribedMBean(
                        new MeterAttributes(mallometer, "Allocator"),
                        new Allocator(mallometer),
                        Described.OfAllocator.class,
                        AllocatorMXBean.class,
                        "The allocator, the memory that it retains, and trims",
                        huge)),
            Registration.of(
                server,
                CALL_SITES_NAME,
                () ->
                    new DescribedMBean(
                        new MeterAttributes(mallometer, "CallSites"),
                        new CallSiteTables(mallometer),
                        Described.OfCallSites.class,
                        CallSitesMXBean.class,
                        "Call sites that allocate native memory, estimated from samples",
                        new NotificationBroadcasterSupport())),
            Registration.of(
                server,
                LEAK_DETECTOR_NAME,
                () ->
                    new DescribedMBean(
                        new MeterAttributes(mallometer, "LeakDetector"),
                        new LeakDetectorTables(mallometer),
                        Described.OfLeakDetector.class,
                        LeakDetectorMXBean.class,
                        "Which call sites leak native memory",
                        leaks))),
        huge,
        monitors,
        leaks);
  }

  /** Returns whether all MBeans of this object are registered. */
  public boolean registered() {
    return !registrations.isEmpty() && registrations.stream().allMatch(Registration::registered);
  }

  /** Unregisters the MBeans. A second call does nothing. */
  @Override
  public void close() {
    notifications.forEach(Notifications::close);
    registrations.forEach(Registration::close);
  }
}
