export { addPortOffset } from './service/portOffset.ts'
