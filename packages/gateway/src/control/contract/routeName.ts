import type { ControlApi } from './controlApi.d.ts'

/** A route's name: its method and its path. */
export type RouteName = keyof ControlApi
