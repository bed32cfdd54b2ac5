import type { Complete, RouteCall } from '../call/call.ts'
import type { RouteEndpoint } from './routeOptions.ts'
import type { RouteState } from './routeState.ts'

/** The value of the `confirm` option of `failover`. Created by `confirm`. */
export interface ConfirmFeature {
  /**
   * Creates the function that sends a call to several endpoints. It returns whether the results of the method are confirmed: if not, it does nothing.
   *
   * @throws {KeyrailError} kind `invalidRequest` if there are too few endpoints.
   */
  readonly open: (
    endpoints: readonly RouteEndpoint[],
  ) => (route: RouteState, call: RouteCall, complete: Complete, minBlock: number) => boolean
}

/** The option that takes the feature. */
export interface ConfirmOption {
  /** Uses a result only if several endpoints agree on it. @default one endpoint is believed */
  readonly confirm?: ConfirmFeature | undefined
}
