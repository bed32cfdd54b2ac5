export type { Client, ClientParts } from './client/client.ts'
export { clientOf } from './client/clientOf.ts'
export { createClient } from './client/createClient.ts'
