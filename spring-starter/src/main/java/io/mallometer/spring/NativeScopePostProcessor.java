package io.mallometer.spring;

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
 * Measures methods with {@link NativeScope}. It needs no auto-proxying by the application. A final
 * class cannot be extended and is left alone.
 */
final class NativeScopePostProcessor extends AbstractBeanFactoryAwareAdvisingPostProcessor {

  @Serial private static final long serialVersionUID = 1;

  private static final Log logger = LogFactory.getLog(NativeScopePostProcessor.class);

  /**
   * Makes the processor, for which no other bean is created yet.
   *
   * @param meters gives the meters when the first method is called
   */
  NativeScopePostProcessor(Supplier<@Nullable NativeScopeMeters> meters) {
    setProxyTargetClass(true);
    advisor =
        new DefaultPointcutAdvisor(
            new AnnotationMatchingPointcut(null, NativeScope.class, true), new Measured(meters));
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
              + " with @NativeScope are not measured, because the class is final. Remove final.");
      return false;
    }
    return true;
  }

  private static final class Measured implements MethodInterceptor {
    private final Supplier<@Nullable NativeScopeMeters> meters;

    /** Empty if there are none, null until the first call. */
    private volatile @Nullable Optional<NativeScopeMeters> found;

    Measured(Supplier<@Nullable NativeScopeMeters> meters) {
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
      io.mallometer.NativeScope open = known.begin();
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
      NativeScope scope = AnnotatedElementUtils.findMergedAnnotation(method, NativeScope.class);
      return scope == null ? method.getName() : scope.value();
    }
  }
}
