import type { RouteName } from '../contract/route.ts'
import type { ControlParts, Handlers } from '../handler.ts'
import { accountHandlers } from './accountHandlers.ts'
import { adminHandlers } from './adminHandlers.ts'
import { alertHandlers } from './alertHandlers.ts'
import { allowListHandlers } from './allowListHandlers.ts'
import { apiKeyHandlers } from './apiKeyHandlers.ts'
import { appHandlers } from './appHandlers.ts'
import { appKeyHandlers } from './appKeyHandlers.ts'
import { auditHandlers } from './auditHandlers.ts'
import { deploymentHandlers } from './deploymentHandlers.ts'
import { jwtKeyHandlers } from './jwtKeyHandlers.ts'
import { metricsHandlers } from './metricsHandlers.ts'
import { originHandlers } from './originHandlers.ts'
import { requestLogHandlers } from './requestLogHandlers.ts'
import { tokenHandlers } from './tokenHandlers.ts'

/** Creates the handlers of all routes. A missing handler does not compile. */
export const createHandlers = (parts: ControlParts): Handlers<RouteName> => ({
  ...deploymentHandlers(parts),
  ...accountHandlers(parts),
  ...appHandlers(parts),
  ...appKeyHandlers(parts),
  ...allowListHandlers(parts),
  ...jwtKeyHandlers(parts),
  ...apiKeyHandlers(parts),
  ...metricsHandlers(parts),
  ...originHandlers(parts),
  ...requestLogHandlers(parts),
  ...tokenHandlers(parts),
  ...alertHandlers(parts),
  ...auditHandlers(parts),
  ...adminHandlers(parts),
})
