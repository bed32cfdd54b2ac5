// A worker of Cloudflare: uses the service that a request names, and responds with the report.
import { runCalls } from './runCalls.mjs'

// oxlint-disable-next-line import/no-default-export -- workerd runs it
export default {
  fetch: async (request) => Response.json(await runCalls(await request.json())),
}
