import type { AnyRoute, RouteName, RoutesBelow } from './route.ts'
import { accountRoutes } from './routes/accountRoutes.ts'
import { adminRoutes } from './routes/adminRoutes.ts'
import { appRoutes } from './routes/appRoutes.ts'
import { keyRoutes } from './routes/keyRoutes.ts'
import { serviceRoutes } from './routes/serviceRoutes.ts'

/** All routes of the control API. Handlers, the OpenAPI document and tests are derived from this table. */
const table: RoutesBelow<'/api'> = {
  ...serviceRoutes,
  ...accountRoutes,
  ...appRoutes,
  ...keyRoutes,
  ...adminRoutes,
}

/** The names of all routes. */
export const routeNames: readonly RouteName[] = Object.keys(table) as RouteName[]

/** Gets a route by name. */
export const getRoute = (name: RouteName): AnyRoute => table[name]
