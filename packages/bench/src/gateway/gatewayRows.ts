import type { Figure, FigureRow } from '../figureRow.ts'

const program = 'gateway/measureTargets.ts'
const control = 'control'
const controlFigure: Figure = { key: control, title: 'the floor beside itself', unit: '×' }
const cpu = (key: string, title: string): Figure => ({ key, title, unit: 'µs' })

const rejections: readonly (readonly [name: string, title: string, bar: number])[] = [
  ['unknown', 'an unknown key', 0.5],
  ['limited', 'a key over its rate', 0.7],
  ['overQuota', 'a key over its quota', 0.7],
  ['badJwt', 'a bad JWT that was seen before', 0.6],
]

/** The bars for delivering a block to many WebSockets. */
const sockets = [
  { security: 'plain', title: 'plain', most: { memory: 100, last: 100, cpu: 80 } },
  { security: 'tls', title: 'TLS', most: { memory: 500, last: 200, cpu: 150 } },
] as const

/** The rows of the service: its cost, compared with a minimal proxy. */
export const gatewayRows: readonly FigureRow[] = [
  {
    name: 'gatewaySingle',
    title: 'The service, single calls, 64 connections',
    program,
    args: ['single'],
    figures: [
      { key: 'ratio', title: 'service, CPU of a response beside the floor', unit: '×', most: 1 / 0.75, control },
      controlFigure,
      cpu('floor', 'floor'),
      cpu('gateway', 'service'),
    ],
    note: 'The bar is that the floor takes at least 0.75 of what the service takes.',
  },
  {
    name: 'gatewayCluster',
    title: 'The service with PostgreSQL and Redis, single calls, 64 connections',
    program,
    args: ['cluster'],
    figures: [
      { key: 'ratio', title: 'service, own CPU of a response beside the floor', unit: '×', most: 1.8, control },
      controlFigure,
      cpu('floor', 'floor'),
      cpu('gateway', 'service'),
    ],
    note: 'Needs postgresql and redis-server. Their own CPU does not count.',
  },
  {
    name: 'gatewayTracing',
    title: 'The service with tracing of every hundredth request, single calls, 64 connections',
    program,
    args: ['tracing'],
    figures: [
      { key: 'ratio', title: 'CPU of a call beside the same without tracing', unit: '×', most: 1.05, control },
      { ...controlFigure, title: 'without tracing beside itself' },
      cpu('untraced', 'without tracing'),
      cpu('traced', 'with tracing'),
    ],
    note: 'Two services in one process, in turn. Each slice with tracing is compared with those before and after it.',
  },
  {
    name: 'gatewayBatch',
    title: 'The service, batches of 100, 64 connections',
    program,
    args: ['batch'],
    figures: [
      {
        key: 'ratio',
        title: 'service, CPU of a response beside a floor that parses',
        unit: '×',
        most: 1 / 0.6,
        control,
      },
      {
        key: 'item',
        title: 'service, CPU of an item beside a single call on the floor',
        unit: '×',
        most: 0.07,
        control,
      },
      controlFigure,
      cpu('floor', 'floor that parses'),
      cpu('gateway', 'service'),
      cpu('single', 'single call on the floor'),
    ],
    note: 'The bar is that the floor takes at least 0.6 of what the service takes.',
  },
  {
    name: 'gatewayLone',
    title: 'The service, one connection',
    program,
    args: ['lone'],
    figures: [
      {
        key: 'ratio',
        title: 'median latency that the service adds, beside that of the floor',
        unit: '×',
        most: 0.25,
        control,
      },
      controlFigure,
      cpu('floor', 'floor, median latency'),
      cpu('gateway', 'service, median latency'),
    ],
    note: 'A ratio of 0 is the latency of the floor itself.',
  },
  {
    name: 'gatewayRejections',
    title: 'The service, rejections, 64 connections',
    program,
    args: ['rejections'],
    figures: [
      ...rejections.map(([key, title, most]): Figure => ({
        key,
        title: `${title}, CPU beside an accepted call`,
        unit: '×',
        most,
        control,
      })),
      { ...controlFigure, title: 'an accepted call beside itself' },
      cpu('accepted', 'accepted'),
    ],
    note: 'All by one process, one kind of request after the other.',
  },
  {
    name: 'gatewayManyKeys',
    title: 'The service, 10,000 active keys with three methods each',
    program,
    args: ['manyKeys'],
    figures: [
      { key: 'ratio', title: 'p99 beside that with metering off', unit: '×', most: 2 },
      { ...controlFigure, title: 'p99 with metering off beside itself' },
      { key: 'stall', title: 'longest stall of the event loop in a slice', unit: 'ms', most: 20 },
      { key: 'stallUnmetered', title: 'the same with metering off', unit: 'ms' },
    ],
    note: 'Without the dashboard and the control API: keys, rates, quota and metering over SQLite. A p99 of one second is no steady figure, so the control is shown but not compared.',
  },
  {
    name: 'gatewayStoredKeys',
    title: 'The service, 1,000,000 keys stored and 10,000 in use',
    program,
    args: ['storedKeys'],
    figures: [
      { key: 'ratio', title: 'requests with 10 keys beside those with a million', unit: '×', most: 1.1, control },
      { ...controlFigure, title: 'requests with 10 keys beside themselves' },
      { key: 'growth', title: 'memory that the load added', unit: 'MB', most: 150 },
    ],
    note: 'Keys, rates, quota and metering over SQLite.',
  },
  {
    name: 'gatewaySlowReaders',
    title: 'The service, 32 responses of 4 MB at once, half of them read at 100 kB a second',
    program: 'gateway/slowReaders.ts',
    enough: 3,
    figures: [{ key: 'growth', title: 'memory that they added', unit: 'MB', most: 100 }],
    note: 'Above what the process held after four such responses, one after another.',
  },
  {
    name: 'gatewaySubscriptions',
    title: 'Subscriptions: matching and delivery, without the sockets',
    program: '../test/gateway/measureSubscriptions.ts',
    source: true,
    figures: [
      {
        key: 'matching',
        title: '10,000 filters, block of 500 logs with a hot token and a hot recipient',
        unit: 'ms',
        most: 2,
      },
      { key: 'growth', title: 'the same beside the same logs with 100 filters', unit: '×', most: 4 },
      { key: 'heads', title: '5,000 connections with newHeads, CPU of a block', unit: 'ms', most: 20 },
      {
        key: 'shared',
        title: '20,000 notifications to 5,000 connections with the same filter, CPU of a block',
        unit: 'ms',
        most: 30,
      },
      {
        key: 'own',
        title: '20,000 notifications to 5,000 connections with a filter each, CPU of a block',
        unit: 'ms',
        most: 30,
      },
      { key: 'stall', title: 'longest slice of the event loop in these blocks', unit: 'ms', most: 10 },
    ],
    note:
      'Matching is the median of 20 blocks. The connections do nothing with what they get: writing it to sockets is the larger part of the bars of\n' +
      'a whole block, which are 80 ms for the heads and 60 ms for the notifications.',
  },
  ...sockets.map(({ security, title, most }): FigureRow => ({
    name: security === 'tls' ? 'gatewaySocketsTls' : 'gatewaySockets',
    title: `5,000 WebSockets with newHeads, ${title}`,
    program: '../test/subscriptions/measureSockets.ts',
    source: true,
    args: [security],
    enough: 10,
    figures: [
      {
        key: 'memory',
        title: 'memory that the connections added (RSS), after a collection',
        unit: 'MB',
        most: most.memory,
      },
      { key: 'held', title: 'the same before it', unit: 'MB' },
      { key: 'last', title: 'last receipt after the node announced the block', unit: 'ms', most: most.last },
      { key: 'cpu', title: 'own CPU of a block', unit: 'ms', most: most.cpu },
      { key: 'bare', title: 'CPU of bare sockets that write the same bytes, without TLS', unit: 'ms' },
      { key: 'ratio', title: 'own CPU beside that', unit: '×' },
      { key: 'stall', title: 'longest stall of the event loop', unit: 'ms', most: 10 },
    ],
    note:
      'Raw sockets in two other processes, which share the cores with the service: the time to the last receipt contains their CPU, and stalls contain\n' +
      'the time in which the system runs them. It also contains that the service reads the block from the node.',
  })),
]
