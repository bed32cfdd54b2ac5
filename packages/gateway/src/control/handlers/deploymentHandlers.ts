import { maxEntriesPerType } from '../../auth/allowList/allowListEntries.ts'
import { maxJwtKeys } from '../../auth/jwt/jwtPolicy.ts'
import { networkNames } from '../../lib/network.ts'
import { maxApiKeys } from '../../storage/keys.ts'
import { serviceNames, useCases } from '../contract/deployment.ts'
import { maxGraceDays } from '../contract/keyState.ts'
import { openApi } from '../contract/openApi.ts'
import type { ControlParts, Handlers } from '../handler.ts'

/** The routes that need no authentication. */
export const deploymentHandlers = ({
  config,
  deployment,
}: ControlParts): Handlers<'GET /api/deployment' | 'GET /api/openapi.json'> => {
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
  return {
    'GET /api/deployment': async () => {
      const { signUp, reveal, maxApps, limits } = config()
      const { publicUrl, chain } = deployment()
      const { name, symbol, aliases, chainIds } = chain
      const base = publicUrl.replace(/\/+$/, '')
      return {
        response: {
          publicUrl: base,
          signUp,
          reveal,
          chain: {
            name,
            symbol,
            aliases,
            networks: networkNames.map((network) => ({
              network,
              chainId: chainIds[network],
              url: `${base}/${network}`,
            })),
          },
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
    'GET /api/openapi.json': async () => {
      const { publicUrl, controlUrl = publicUrl } = deployment()
      return getDocument(controlUrl)
    },
  }
}
