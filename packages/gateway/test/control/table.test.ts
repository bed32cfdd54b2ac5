import { sqlite } from '../storage/databases.ts'
import { testRouteTable } from './routeTableTests.ts'

// everyRoute.verify.ts runs it on PostgreSQL.
testRouteTable(sqlite)
