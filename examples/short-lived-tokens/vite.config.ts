import { join } from 'node:path'
import { getRequestListener } from '@hono/node-server'
import { defaultClientConditions, defineConfig } from 'vite'
import type { ViteDevServer } from 'vite'
import { getEndpoint, isEndpointSet } from '../endpoint.ts'
import { addPublicKey, readLocalService, readPrivateKey } from './localKey.ts'
import { createTokenRoute } from './tokenRoute.ts'

const { JWT_KEY_FILE = 'jwt.pem', JWT_KID, JWT_SECONDS = '300' } = process.env

if (!JWT_KID && isEndpointSet())
  throw new Error('JWT_KID is missing. Set it to the id that the dashboard shows for the key in JWT_KEY_FILE.')
const baseUrl = getEndpoint().baseUrl as string
const privateKey = readPrivateKey(JWT_KEY_FILE)
const kid = JWT_KID || (await addPublicKey(readLocalService(baseUrl), privateKey))

function serveTokens(server: ViteDevServer): void {
  let handle: ReturnType<typeof getRequestListener> | undefined
  server.middlewares.use('/token', (request, response) => {
    // Created at the first request, when the origin of the page is known.
    handle ??= getRequestListener(
      createTokenRoute({
        privateKey,
        kid,
        origins: (server.resolvedUrls?.local ?? []).map((url) => new URL(url).origin),
        // Check the session of your site here.
        isVisitor: () => true,
        lifetimeS: Number(JWT_SECONDS),
      }),
    )
    void handle(request, response)
  })
}

export default defineConfig({
  root: join(import.meta.dirname, 'page'),
  // The URL without the key: the token identifies the app.
  define: { 'import.meta.env.VITE_KEYRAIL_URL': JSON.stringify(`${baseUrl}/v2`) },
  // Only in this workspace: use the sources of the packages, not the published ones.
  resolve: { conditions: ['@keyrail/source', ...defaultClientConditions] },
  plugins: [{ name: 'tokens', configureServer: serveTokens }],
})
