export { KeyrailProvider } from './keyrailProvider.ts'
