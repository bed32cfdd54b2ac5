import { serve } from '@hono/node-server'
import { POST } from './route.ts'

const server = serve({ fetch: POST, hostname: '127.0.0.1', port: Number(process.env['PORT'] ?? 3000) }, ({ port }) =>
  console.log(`Listening on http://127.0.0.1:${port}`),
)
process.once('SIGINT', () => server.close())
