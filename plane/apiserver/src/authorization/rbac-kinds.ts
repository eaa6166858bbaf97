import { roleBindingColumns, roleColumns } from '../printers/rbac-columns.js';
import { define } from '../registry/define.js';
import type { ResourceDefinition } from '../registry/resource.js';
import {
  clusterRoleBindingStrategy,
  clusterRoleStrategy,
  roleBindingStrategy,
  roleStrategy,
} from './rbac-strategies.js';
import { rbacGroup } from './role-based.js';

/** The rows of the table of kinds that role-based access control reads. */
export const rbacKinds: readonly ResourceDefinition[] = [
  define({
    group: rbacGroup,
    version: 'v1',
    kind: 'ClusterRoleBinding',
    plural: 'clusterrolebindings',
    isNamespaced: false,
    strategy: clusterRoleBindingStrategy,
    columns: roleBindingColumns,
  }),
  define({
    group: rbacGroup,
    version: 'v1',
    kind: 'ClusterRole',
    plural: 'clusterroles',
    isNamespaced: false,
    strategy: clusterRoleStrategy,
    columns: roleColumns,
  }),
  define({
    group: rbacGroup,
    version: 'v1',
    kind: 'RoleBinding',
    plural: 'rolebindings',
    isNamespaced: true,
    strategy: roleBindingStrategy,
    columns: roleBindingColumns,
  }),
  define({
    group: rbacGroup,
    version: 'v1',
    kind: 'Role',
    plural: 'roles',
    isNamespaced: true,
    strategy: roleStrategy,
    columns: roleColumns,
  }),
];
