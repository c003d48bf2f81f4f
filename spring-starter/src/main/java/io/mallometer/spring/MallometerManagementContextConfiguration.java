package io.mallometer.spring;

import org.springframework.boot.actuate.autoconfigure.web.ManagementContextConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.web.filter.RequestContextFilter;

/**
 * Configures the binding of a request to its thread if Jersey alone serves the Actuator. {@link
 * CurrentRequest} needs the binding. Spring MVC binds requests itself.
 *
 * <p>Compiled for Java 8: see {@link SupportedVersions}.
 */
@ManagementContextConfiguration(proxyBeanMethods = false)
@ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.SERVLET)
@ConditionalOnClass(RequestContextFilter.class)
@ConditionalOnMissingClass("org.springframework.web.servlet.DispatcherServlet")
public final class MallometerManagementContextConfiguration {

  @Bean
  @ConditionalOnMissingBean(RequestContextFilter.class)
  RequestContextFilter nativeMemoryRequestContextFilter() {
    return new RequestContextFilter();
  }
}
