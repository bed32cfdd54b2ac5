import { sqlite } from '../storage/databases.ts'
import { testRouteTable } from './routeTableTests.ts'

// On PostgreSQL: everyRoute.verify.ts.
testRouteTable(sqlite)
