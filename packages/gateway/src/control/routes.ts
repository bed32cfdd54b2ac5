import type { RouteName } from './contract/routeName.ts'
import type { Route } from './route.ts'
import { accountRoutes } from './routes/accountRoutes.ts'
import { alertRoutes } from './routes/alertRoutes.ts'
import { allowListRoutes } from './routes/allowListRoutes.ts'
import { apiKeyRoutes } from './routes/apiKeyRoutes.ts'
import { appKeyRoutes } from './routes/appKeyRoutes.ts'
import { appRoutes } from './routes/appRoutes.ts'
import { auditRoutes } from './routes/auditRoutes.ts'
import { contractErrorRoutes } from './routes/contractErrorRoutes.ts'
import { deploymentRoutes } from './routes/deploymentRoutes.ts'
import { factorRoutes } from './routes/factorRoutes.ts'
import { jwtKeyRoutes } from './routes/jwtKeyRoutes.ts'
import { metricsRoutes } from './routes/metricsRoutes.ts'
import { originRoutes } from './routes/originRoutes.ts'
import { requestLogRoutes } from './routes/requestLogRoutes.ts'
import { serviceRoutes } from './routes/serviceRoutes.ts'
import { savedFilterRoutes } from './routes/savedFilterRoutes.ts'
import { teamRoutes } from './routes/teamRoutes.ts'
import { tokenRoutes } from './routes/tokenRoutes.ts'
import { usageRoutes } from './routes/usageRoutes.ts'
import { userAdminRoutes } from './routes/userAdminRoutes.ts'

/** All routes of the control API. The OpenAPI document, `controlApi.d.ts` and tests are derived from this table. */
export const routes: readonly Route[] = [
  ...deploymentRoutes,
  ...accountRoutes,
  ...teamRoutes,
  ...factorRoutes,
  ...tokenRoutes,
  ...appRoutes,
  ...appKeyRoutes,
  // Before those of an entry, whose path has an id where this one has `preview`.
  ...originRoutes,
  ...allowListRoutes,
  ...jwtKeyRoutes,
  ...apiKeyRoutes,
  ...metricsRoutes,
  ...requestLogRoutes,
  ...savedFilterRoutes,
  ...contractErrorRoutes,
  ...alertRoutes,
  ...auditRoutes,
  ...serviceRoutes,
  ...userAdminRoutes,
  ...usageRoutes,
]

const byName: ReadonlyMap<string, Route> = new Map(routes.map((one) => [one.name, one]))

/** The names of all routes. */
export const routeNames: readonly RouteName[] = [...byName.keys()] as RouteName[]

/** Gets a route by name. */
export const getRoute = (name: RouteName): Route => byName.get(name) as Route
