const container =
  "Name' Image' Command Args WorkingDir' Ports:ContainerPort EnvFrom:EnvFromSource Env:EnvVar Resources=:ResourceRequirements ResizePolicy:ContainerResizePolicy RestartPolicy RestartPolicyRules:ContainerRestartRule VolumeMounts:VolumeMount VolumeDevices:VolumeDevice LivenessProbe:Probe ReadinessProbe:Probe StartupProbe:Probe Lifecycle:Lifecycle TerminationMessagePath' TerminationMessagePolicy' ImagePullPolicy' SecurityContext:SecurityContext Stdin~ StdinOnce~ TTY~";

/**
 * The structures of pods, claims and volumes in kube-apiserver's program: the fields in order. After the name: what an unset field shows
 * (`'` an empty text, `#` zero, `~` false, `@0` the quantity zero, `=` an empty structure; else null), `:` the
 * structure that the field or its items hold, `/` the name in JSON where it does not follow from the name in Go.
 */
export const goTypes: Readonly<Record<string, string>> = {
  PodSpec:
    "Volumes:Volume InitContainers:Container Containers:Container EphemeralContainers:EphemeralContainer RestartPolicy' TerminationGracePeriodSeconds ActiveDeadlineSeconds DNSPolicy' NodeSelector ServiceAccountName' AutomountServiceAccountToken NodeName' SecurityContext:PodSecurityContext ImagePullSecrets:LocalObjectReference Hostname' Subdomain' SetHostnameAsFQDN Affinity:Affinity SchedulerName' Tolerations:Toleration HostAliases:HostAlias PriorityClassName' Priority PreemptionPolicy DNSConfig:PodDNSConfig ReadinessGates:PodReadinessGate RuntimeClassName Overhead EnableServiceLinks TopologySpreadConstraints:TopologySpreadConstraint OS:PodOS SchedulingGates:PodSchedulingGate ResourceClaims:PodResourceClaim Resources:ResourceRequirements HostnameOverride SchedulingGroup",
  Container: container,
  EphemeralContainer: `${container} TargetContainerName'`,
  ContainerPort: "Name' HostPort# ContainerPort# Protocol' HostIP'",
  ContainerResizePolicy: "ResourceName' RestartPolicy'",
  ContainerRestartRule: "Action' ExitCodes:ContainerRestartRuleOnExitCodes",
  ContainerRestartRuleOnExitCodes: "Operator' Values",
  EnvFromSource: "Prefix' ConfigMapRef:EnvSource SecretRef:EnvSource",
  EnvSource: "Name' Optional",
  EnvVar: "Name' Value' ValueFrom:EnvVarSource",
  EnvVarSource:
    'FieldRef:ObjectFieldSelector ResourceFieldRef:ResourceFieldSelector ConfigMapKeyRef:KeySelector SecretKeyRef:KeySelector FileKeyRef:FileKeySelector',
  KeySelector: "Name' Key' Optional",
  FileKeySelector: "VolumeName' Path' Key' Optional",
  ObjectFieldSelector: "APIVersion' FieldPath'",
  ResourceFieldSelector: "ContainerName' Resource' Divisor@0",
  ResourceRequirements: 'Limits Requests Claims:ResourceClaim',
  ResourceClaim: "Name' Request'",
  VolumeMount: "Name' ReadOnly~ RecursiveReadOnly MountPath' SubPath' MountPropagation SubPathExpr'",
  VolumeDevice: "Name' DevicePath'",
  Probe:
    'Exec:ExecAction HTTPGet:HTTPGetAction TCPSocket:TCPSocketAction GRPC:GRPCAction InitialDelaySeconds# TimeoutSeconds# PeriodSeconds# SuccessThreshold# FailureThreshold# TerminationGracePeriodSeconds',
  Lifecycle: 'PostStart:LifecycleHandler PreStop:LifecycleHandler StopSignal',
  LifecycleHandler: 'Exec:ExecAction HTTPGet:HTTPGetAction TCPSocket:TCPSocketAction Sleep:SleepAction',
  ExecAction: 'Command',
  HTTPGetAction: "Path' Port# Host' Scheme' HTTPHeaders:HTTPHeader",
  HTTPHeader: "Name' Value'",
  TCPSocketAction: "Port# Host'",
  GRPCAction: 'Port# Service',
  SleepAction: 'Seconds#',
  SecurityContext:
    'Capabilities:Capabilities Privileged SELinuxOptions:SELinuxOptions WindowsOptions:WindowsSecurityContextOptions RunAsUser RunAsGroup RunAsNonRoot ReadOnlyRootFilesystem AllowPrivilegeEscalation ProcMount SeccompProfile:SeccompProfile AppArmorProfile:AppArmorProfile',
  Capabilities: 'Add Drop',
  SELinuxOptions: "User' Role' Type' Level'",
  WindowsSecurityContextOptions: 'GMSACredentialSpecName GMSACredentialSpec RunAsUserName HostProcess',
  SeccompProfile: "Type' LocalhostProfile",
  AppArmorProfile: "Type' LocalhostProfile",
  PodSecurityContext:
    'HostNetwork~ HostPID~ HostIPC~ ShareProcessNamespace HostUsers SELinuxOptions:SELinuxOptions WindowsOptions:WindowsSecurityContextOptions RunAsUser RunAsGroup RunAsNonRoot SupplementalGroups SupplementalGroupsPolicy FSGroup FSGroupChangePolicy Sysctls:Sysctl SeccompProfile:SeccompProfile AppArmorProfile:AppArmorProfile SELinuxChangePolicy',
  Sysctl: "Name' Value'",
  LocalObjectReference: "Name'",
  Toleration: "Key' Operator' Value' Effect' TolerationSeconds",
  HostAlias: "IP' Hostnames",
  PodDNSConfig: 'Nameservers Searches Options:PodDNSConfigOption',
  PodDNSConfigOption: "Name' Value",
  PodReadinessGate: "ConditionType'",
  PodSchedulingGate: "Name'",
  PodOS: "Name'",
  PodResourceClaim: "Name' ResourceClaimName ResourceClaimTemplateName",
  TopologySpreadConstraint:
    "MaxSkew# TopologyKey' WhenUnsatisfiable' LabelSelector MinDomains NodeAffinityPolicy NodeTaintsPolicy MatchLabelKeys",
  Affinity: 'NodeAffinity:NodeAffinity PodAffinity:PodAffinity PodAntiAffinity:PodAffinity',
  NodeAffinity:
    'RequiredDuringSchedulingIgnoredDuringExecution:NodeSelector PreferredDuringSchedulingIgnoredDuringExecution:PreferredSchedulingTerm',
  NodeSelector: 'NodeSelectorTerms:NodeSelectorTerm',
  NodeSelectorTerm: 'MatchExpressions:NodeSelectorRequirement MatchFields:NodeSelectorRequirement',
  NodeSelectorRequirement: "Key' Operator' Values",
  PreferredSchedulingTerm: 'Weight# Preference=:NodeSelectorTerm',
  PodAffinity:
    'RequiredDuringSchedulingIgnoredDuringExecution:PodAffinityTerm PreferredDuringSchedulingIgnoredDuringExecution:WeightedPodAffinityTerm',
  WeightedPodAffinityTerm: 'Weight# PodAffinityTerm=:PodAffinityTerm',
  PodAffinityTerm: "LabelSelector Namespaces TopologyKey' NamespaceSelector MatchLabelKeys MismatchLabelKeys",
  Volume:
    "Name' HostPath:HostPath EmptyDir:EmptyDir GCEPersistentDisk AWSElasticBlockStore GitRepo:GitRepo Secret:SecretVolume NFS:NFS ISCSI Glusterfs PersistentVolumeClaim:ClaimVolume RBD Quobyte FlexVolume Cinder CephFS/cephfs Flocker DownwardAPI:DownwardVolume FC AzureFile ConfigMap:ConfigMapVolume VsphereVolume AzureDisk PhotonPersistentDisk Projected:ProjectedVolume PortworxVolume ScaleIO StorageOS/storageos CSI:CSIVolume Ephemeral Image:ImageVolume",
  PersistentVolumeClaimSpec:
    "AccessModes Selector Resources=:VolumeResourceRequirements VolumeName' StorageClassName VolumeMode DataSource:TypedObjectReference DataSourceRef:ForeignObjectReference VolumeAttributesClassName",
  VolumeResourceRequirements: 'Limits Requests',
  TypedObjectReference: "APIGroup Kind' Name'",
  ForeignObjectReference: "APIGroup Kind' Name' Namespace",
  PersistentVolumeSource:
    'GCEPersistentDisk AWSElasticBlockStore HostPath:HostPath Glusterfs NFS:NFS RBD Quobyte ISCSI FlexVolume Cinder CephFS/cephfs FC Flocker AzureFile VsphereVolume AzureDisk PhotonPersistentDisk PortworxVolume ScaleIO Local:LocalVolume StorageOS/storageos CSI:CSIPersistentVolume',
  LocalVolume: "Path' FSType",
  CSIPersistentVolume:
    "Driver' VolumeHandle' ReadOnly~ FSType' VolumeAttributes ControllerPublishSecretRef:SecretReference NodeStageSecretRef:SecretReference NodePublishSecretRef:SecretReference ControllerExpandSecretRef:SecretReference NodeExpandSecretRef:SecretReference",
  SecretReference: "Name' Namespace'",
  VolumeAttachmentSpec: "Attacher' Source=:VolumeAttachmentSource NodeName'",
  VolumeAttachmentSource: 'PersistentVolumeName InlineVolumeSpec',
  VolumeNodeAffinity: 'Required:NodeSelector',
  Taint: "Key' Value' Effect' TimeAdded",
  NodeAddress: "Type' Address'",
  HostPath: "Path' Type",
  EmptyDir: "Medium' SizeLimit",
  GitRepo: "Repository' Revision' Directory'",
  SecretVolume: "SecretName' Items:KeyToPath DefaultMode Optional",
  ConfigMapVolume: "Name' Items:KeyToPath DefaultMode Optional",
  KeyToPath: "Key' Path' Mode",
  NFS: "Server' Path' ReadOnly~",
  ClaimVolume: "ClaimName' ReadOnly~",
  CSIVolume: "Driver' ReadOnly FSType VolumeAttributes NodePublishSecretRef:LocalObjectReference",
  ImageVolume: "Reference' PullPolicy'",
  DownwardVolume: 'Items:DownwardFile DefaultMode',
  DownwardFile: "Path' FieldRef:ObjectFieldSelector ResourceFieldRef:ResourceFieldSelector Mode",
  ProjectedVolume: 'Sources:VolumeProjection DefaultMode',
  VolumeProjection:
    'Secret:EntryProjection DownwardAPI:DownwardProjection ConfigMap:EntryProjection ServiceAccountToken:TokenProjection ClusterTrustBundle:BundleProjection PodCertificate',
  EntryProjection: "Name' Items:KeyToPath Optional",
  DownwardProjection: 'Items:DownwardFile',
  TokenProjection: "Audience' ExpirationSeconds# Path'",
  BundleProjection: "Name SignerName LabelSelector Optional Path'",
};
