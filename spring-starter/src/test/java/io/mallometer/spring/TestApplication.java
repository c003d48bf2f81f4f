package io.mallometer.spring;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Configuration;

/** An application with only the starter and the Actuator on its class path. */
@Configuration(proxyBeanMethods = false)
@EnableAutoConfiguration
public class TestApplication {}
