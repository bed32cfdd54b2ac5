import { maxEntriesPerType } from '../../auth/allowList/allowListEntries.ts'
import { maxJwtKeys } from '../../auth/jwt/jwtPolicy.ts'
import { maxApiKeys } from '../../storage/keys.ts'
import { serviceNames, useCases } from '../contract/deployment.ts'
import { maxGraceDays } from '../contract/keyState.ts'
import { openApi } from '../contract/openApi.ts'
import type { ControlParts, Handlers } from '../handler.ts'
import { createPublishedPackages } from '../publishedPackages.ts'
import { toNetworkStatuses } from '../views/toNetworkStatuses.ts'
import { toChainViews, toNetworkViews } from '../views/toNetworkViews.ts'

/** The handlers of the routes about the service. */
export const deploymentHandlers = ({
  config,
  deployment,
  upstreams,
  now,
}: ControlParts): Handlers<
  'GET /api/deployment' | 'GET /api/networks' | 'GET /api/networks/status' | 'GET /api/openapi.json'
> => {
  // Cached: generating it takes about 10 ms, and anonymous clients can request it.
  let cached:
    | { readonly publicUrl: string; readonly response: ReturnType<typeof openApi>; readonly text: string }
    | undefined
  const getDocument = (publicUrl: string): { response: ReturnType<typeof openApi>; text: string } => {
    if (cached?.publicUrl !== publicUrl) {
      const response = openApi({ publicUrl })
      cached = { publicUrl, response, text: JSON.stringify(response) }
    }
    return { response: cached.response, text: cached.text }
  }
  const getPublishedPackages = createPublishedPackages(now)
  return {
    'GET /api/deployment': async () => {
      const {
        signUp,
        email = false,
        passwordLogin = true,
        oidc,
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
          singleSignOn: oidc === undefined ? null : { label: oidc.label },
          reveal,
          publishedPackages: await getPublishedPackages(registries),
          requestLog: recordsRequests,
          docsUrl: docsUrl?.replace(/\/+$/, '') ?? null,
          chains: toChainViews(deployed),
          networks: toNetworkViews(deployed),
          services: serviceNames,
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
    'GET /api/networks': async () => {
      const deployed = deployment()
      return { response: { chains: toChainViews(deployed), networks: toNetworkViews(deployed) } }
    },
    'GET /api/networks/status': async () => ({
      response: { networks: toNetworkStatuses(Object.keys(deployment().networks), upstreams()) },
    }),
    'GET /api/openapi.json': async () => {
      const { publicUrl, controlUrl = publicUrl } = deployment()
      return getDocument(controlUrl)
    },
  }
}
