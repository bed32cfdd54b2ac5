import { createGateway } from '../src/proxy/createGateway.ts'
import type { Gateway } from '../src/proxy/gateway.ts'
import type { GatewayConfig, GatewayParts } from '../src/proxy/gatewayOptions.ts'
import { gatewayShape } from '../src/proxy/options/gatewayShape.ts'
import { resolveNetworkLimits } from '../src/service/networkLimits.ts'
import { parseServiceConfig } from '../src/service/parseServiceConfig.ts'
import type { ServiceConfigInput } from '../src/service/serviceConfig.ts'
import { toGatewayConfig } from '../src/service/toGatewayConfig.ts'

type ConfigName = keyof typeof gatewayShape | 'limits'

const names = [...Object.keys(gatewayShape), 'networks', 'limits'] as readonly (ConfigName | 'networks')[]

/** Members of the config that concern the gateway. What is left out has its default. */
export interface TestConfig
  extends Partial<Pick<ServiceConfigInput, ConfigName | 'publicUrl'>>, Partial<Pick<GatewayConfig, 'tls' | 'tracer'>> {
  readonly networks: ServiceConfigInput['networks']
}

/** The config and the parts of a gateway. */
export interface TestOptions extends TestConfig, GatewayParts {}

/** Parses the config as the service does. */
export const toTestConfig = ({ publicUrl, tls, tracer, ...given }: TestConfig): GatewayConfig => {
  const members = names.flatMap((name) => (given[name] === undefined ? [] : [[name, given[name]] as const]))
  const config = parseServiceConfig({ publicUrl: publicUrl ?? 'http://localhost', ...Object.fromEntries(members) })
  const converted = toGatewayConfig(config, resolveNetworkLimits(config), { tls, tracer })
  return publicUrl === undefined ? { ...converted, publicUrl } : converted
}

/** A gateway that parses the configs it gets, as the service does. */
export interface TestGateway extends Omit<Gateway, 'reload'> {
  reload(config: TestConfig): Promise<void>
}

/** Creates a gateway from a config and its parts, without a service around it. */
export const createTestGateway = (options: TestOptions): TestGateway => {
  const gateway = createGateway(options, toTestConfig(options))
  return { ...gateway, reload: async (config) => gateway.reload(toTestConfig(config)) }
}
