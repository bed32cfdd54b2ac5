{{- define "keyrail.name" -}}
{{- printf "%s" .Release.Name | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{- define "keyrail.selector" -}}
app.kubernetes.io/name: keyrail
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "keyrail.labels" -}}
{{ include "keyrail.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}
