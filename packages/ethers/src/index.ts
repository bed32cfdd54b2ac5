export { KeyrailProvider } from './keyrailProvider.ts'
export type { KeyrailProviderConfig } from './keyrailProvider.ts'
