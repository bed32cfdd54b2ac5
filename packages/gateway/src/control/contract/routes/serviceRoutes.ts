import { z } from 'zod'
import { deploymentView, networksView } from '../deployment.ts'
import { networkStatusesView } from '../networkStatus.ts'
import type { RoutesBelow } from '../route.ts'

/** The routes about the service itself. */
export const serviceRoutes: RoutesBelow<'/api/deployment' | '/api/networks' | '/api/openapi.json'> = {
  'GET /api/deployment': {
    summary: "Gets the service's chain, networks, services and limits.",
    access: 'anyone',
    status: 200,
    response: deploymentView,
  },
  'GET /api/networks': {
    summary: 'Lists the networks of the service, with their chain ids and endpoints.',
    access: 'anyone',
    status: 200,
    response: networksView,
  },
  'GET /api/networks/status': {
    summary: 'Counts the healthy, lagging and down nodes of each network, as this instance sees them.',
    access: 'read',
    status: 200,
    response: networkStatusesView,
  },
  'GET /api/openapi.json': {
    summary: 'Gets this OpenAPI document.',
    access: 'anyone',
    status: 200,
    response: z.record(z.string(), z.unknown()),
  },
}
