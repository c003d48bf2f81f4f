package io.mallometer.spring;

import io.mallometer.NativeScope;
import io.mallometer.spring.NativeScopeMeters.Scope;
import java.io.Serial;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Optional;
import java.util.function.Supplier;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.framework.autoproxy.AbstractBeanFactoryAwareAdvisingPostProcessor;
import org.springframework.aop.support.AopUtils;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.aop.support.annotation.AnnotationMatchingPointcut;
import org.springframework.core.annotation.AnnotatedElementUtils;

/**
 * Measures methods that have the annotation {@link NativeScoped}, even if the application has no
 * auto-proxying. Skips final classes, which no proxy can extend.
 */
final class NativeScopePostProcessor extends AbstractBeanFactoryAwareAdvisingPostProcessor {

  @Serial private static final long serialVersionUID = 1;

  private static final Log logger = LogFactory.getLog(NativeScopePostProcessor.class);

  /**
   * Creates the processor. Bean post-processors must not create other beans early, so the meters
   * are supplied later.
   *
   * @param meters supplies the meters when a method is called for the first time
   */
  NativeScopePostProcessor(Supplier<@Nullable NativeScopeMeters> meters) {
    setProxyTargetClass(true);
    advisor =
        new DefaultPointcutAdvisor(
            new AnnotationMatchingPointcut(null, NativeScoped.class, true),
            new ScopeInterceptor(meters));
  }

  @Override
  protected boolean isEligible(Object bean, String name) {
    if (!super.isEligible(bean, name)) {
      return false;
    }
    if (Modifier.isFinal(bean.getClass().getModifiers())) {
      logger.warn(
          "Methods of "
              + bean.getClass().getName()
              + " with @NativeScoped are not measured, because the class is final. Remove final.");
      return false;
    }
    return true;
  }

  private static final class ScopeInterceptor implements MethodInterceptor {
    private final Supplier<@Nullable NativeScopeMeters> meters;

    /** Null before the first call. Empty if there are no meters. */
    private volatile @Nullable Optional<NativeScopeMeters> found;

    ScopeInterceptor(Supplier<@Nullable NativeScopeMeters> meters) {
      this.meters = meters;
    }

    @Override
    public @Nullable Object invoke(MethodInvocation call) throws Throwable {
      Optional<NativeScopeMeters> present = found;
      if (present == null) {
        present = Optional.ofNullable(meters.get());
        found = present;
      }
      if (present.isEmpty()) {
        return call.proceed();
      }
      NativeScopeMeters known = present.get();
      NativeScope open = known.begin();
      try {
        return call.proceed();
      } finally {
        known.end(Scope.named(name(call)), open);
      }
    }

    private static String name(MethodInvocation call) {
      Object target = call.getThis();
      Method method =
          target == null
              ? call.getMethod()
              : AopUtils.getMostSpecificMethod(call.getMethod(), target.getClass());
      NativeScoped scope = AnnotatedElementUtils.findMergedAnnotation(method, NativeScoped.class);
      return scope == null ? method.getName() : scope.value();
    }
  }
}
