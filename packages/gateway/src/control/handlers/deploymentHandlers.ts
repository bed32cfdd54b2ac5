import { maxEntriesPerType } from '../../auth/allowList/allowListEntries.ts'
import { maxJwtKeys } from '../../auth/jwt/jwtPolicy.ts'
import { networkNames } from '../../lib/network.ts'
import { maxApiKeys } from '../../storage/keys.ts'
import { serviceNames, useCases } from '../contract/deployment.ts'
import { maxGraceDays } from '../contract/keyState.ts'
import { openApi } from '../contract/openApi.ts'
import type { ControlParts, Handlers } from '../handler.ts'

/** What everybody may know. */
export const deploymentHandlers = ({
  config,
  deployment,
}: ControlParts): Handlers<'GET /api/deployment' | 'GET /api/openapi.json'> => {
  // Writing it takes some 10 ms, and who asks need not be logged in.
  let written:
    | { readonly publicUrl: string; readonly answer: ReturnType<typeof openApi>; readonly text: string }
    | undefined
  const documentFor = (publicUrl: string): { answer: ReturnType<typeof openApi>; text: string } => {
    if (written?.publicUrl !== publicUrl) {
      const answer = openApi({ publicUrl })
      written = { publicUrl, answer, text: JSON.stringify(answer) }
    }
    return { answer: written.answer, text: written.text }
  }
  return {
    'GET /api/deployment': async () => {
      const { signUp, reveal, maxApps, limits } = config()
      const { publicUrl, chain } = deployment()
      const { name, symbol, aliases, chainIds } = chain
      const base = publicUrl.replace(/\/+$/, '')
      return {
        answer: {
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
      return documentFor(controlUrl)
    },
  }
}
