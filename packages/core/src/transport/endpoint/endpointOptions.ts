import type { AnyEndpointUrlOptions, EndpointUrlOptions } from '../../endpoint/endpointUrlOptions.ts'
import type { BudgetFeature } from '../budget.ts'

/** One of several endpoints. */
export type EndpointOptions<Network extends string = string> = EndpointUrlOptions<Network> & EndpointDetails

/** One of several endpoints, whose network may be given in the options of `failover`. */
export type AnyEndpointOptions<Network extends string = string> = AnyEndpointUrlOptions<Network> & EndpointDetails

/** How one of several endpoints is used. */
export interface EndpointDetails {
  /** Its share of the calls, relative to the others; 0 makes it a spare for when the others fail. @default 1 */
  readonly weight?: number | undefined
  /** Its name in statistics. @default its redacted URL */
  readonly name?: string | undefined
  /** Endpoints with the same group have one vote in `confirm`. @default its host and port */
  readonly group?: string | undefined
  /** Its own limits. @default the `budget` of the transport */
  readonly budget?: BudgetFeature | undefined
}
