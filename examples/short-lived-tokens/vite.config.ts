import { createPrivateKey } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { getRequestListener } from '@hono/node-server'
import { defaultClientConditions, defineConfig } from 'vite'
import type { ViteDevServer } from 'vite'
import { address } from '../address.ts'
import { createTokenRoute } from './tokenRoute.ts'

const { JWT_KEY_FILE = 'jwt.pem', JWT_KID = '', JWT_SECONDS = '300' } = process.env

if (!JWT_KID) throw new Error('JWT_KID is missing: it is what the dashboard calls the key of JWT_KEY_FILE')
const privateKey = createPrivateKey(readFileSync(JWT_KEY_FILE))

function serveTokens(server: ViteDevServer): void {
  let answer: ReturnType<typeof getRequestListener> | undefined
  server.middlewares.use('/token', (request, response) => {
    // Made by the first request: by then it is known where the page is.
    answer ??= getRequestListener(
      createTokenRoute({
        privateKey,
        kid: JWT_KID,
        origins: (server.resolvedUrls?.local ?? []).map((url) => new URL(url).origin),
        // A site of yours looks for its own session here.
        isVisitor: () => true,
        lifetimeS: Number(JWT_SECONDS),
      }),
    )
    void answer(request, response)
  })
}

export default defineConfig({
  root: join(import.meta.dirname, 'page'),
  // The address without the key, for the token finds the app.
  define: { 'import.meta.env.VITE_KEYRAIL_URL': JSON.stringify(`${address().baseUrl as string}/v2`) },
  // Only here, in the workspace: the packages' sources in place of what the registry has.
  resolve: { conditions: ['@keyrail/source', ...defaultClientConditions] },
  plugins: [{ name: 'tokens', configureServer: serveTokens }],
})
