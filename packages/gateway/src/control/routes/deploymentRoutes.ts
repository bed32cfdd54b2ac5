import { z } from 'zod'
import { maxEntriesPerType } from '../../auth/allowList/allowListEntries.ts'
import { maxJwtKeys } from '../../auth/jwt/jwtPolicy.ts'
import { maxApiKeys } from '../../storage/keys.ts'
import { maxGraceDays } from '../contract/keyState.ts'
import { toNetworkStatuses } from '../views/toNetworkStatuses.ts'
import { toChainViews, toNetworkViews } from '../views/toNetworkViews.ts'
import { deploymentView, networksView, serviceNames, useCases } from '../contract/deployment.ts'
import { networkStatusesView } from '../contract/networkStatus.ts'
import { getKeyNetwork } from '../views/toApiKeyView.ts'
import { requireAccountId, route } from '../route.ts'
import type { Route } from '../route.ts'

const openApiView = z.record(z.string(), z.unknown())

/** The routes about the service. */
export const deploymentRoutes: readonly Route[] = [
  route(
    'GET /api/deployment',
    { summary: "Gets the service's chain, networks, services and limits.", access: 'anyone', response: deploymentView },
    async (_, { config, deployment, getPublishedPackages }) => {
      const {
        signUp,
        email = false,
        passwordLogin = true,
        oidc,
        requireSecondFactor = null,
        reveal,
        registries = {},
        recordsRequests = true,
        docsUrl,
        maxApps,
        limits,
      } = config()
      const deployed = deployment()
      return {
        response: {
          publicUrl: deployed.publicUrl.replace(/\/+$/, ''),
          signUp,
          email,
          passwordLogin,
          requireSecondFactor,
          singleSignOn: oidc === undefined ? null : { label: oidc.label },
          reveal,
          publishedPackages: await getPublishedPackages(registries),
          requestLog: recordsRequests,
          docsUrl: docsUrl?.replace(/\/+$/, '') ?? null,
          chains: toChainViews(deployed),
          networks: toNetworkViews(deployed),
          services: serviceNames.filter((name) => name === 'Node API' || deployed.privateTransactions === true),
          useCases,
          limits: {
            app: limits.app,
            apiKey: limits.apiKey,
            maxApps,
            maxApiKeys,
            maxAllowEntriesPerType: maxEntriesPerType,
            maxJwtKeys,
            maxGraceDays,
          },
        },
      }
    },
  ),

  route(
    'GET /api/networks',
    {
      summary: 'Lists the networks of the service, with their chain ids and endpoints.',
      access: 'anyone',
      response: networksView,
    },
    async (_, { deployment }) => {
      const deployed = deployment()
      return { response: { chains: toChainViews(deployed), networks: toNetworkViews(deployed) } }
    },
  ),

  route(
    'GET /api/networks/status',
    {
      summary: 'Counts the healthy, lagging and down nodes of each network, as this instance sees them.',
      access: 'read',
      response: networkStatusesView,
    },
    async ({ caller }, { deployment, upstreams, storage }) => {
      const userId = requireAccountId(caller)
      const apps = await storage.apps.list(userId)
      const keys = await storage.keys.listApiKeys(userId)
      const used = new Set([...apps.flatMap(({ networks }) => networks), ...keys.map(getKeyNetwork)])
      return {
        response: { networks: toNetworkStatuses(Object.keys(deployment().networks), upstreams(), used) },
      }
    },
  ),

  route(
    'GET /api/openapi.json',
    { summary: 'Gets this OpenAPI document.', access: 'anyone', response: openApiView },
    async (_, { deployment, getDocument }) => {
      const { publicUrl, controlUrl = publicUrl } = deployment()
      return getDocument(controlUrl)
    },
  ),
]
