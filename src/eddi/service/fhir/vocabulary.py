"""Addresses of the profiles, extensions and code systems that FHIR R4 and SDC 4.0.0 define."""

PATH = "/fhir"  # of all FHIR routes of the server
MEDIA_TYPE = "application/fhir+json"
FHIR_VERSION = "4.0.1"

_CORE = "http://hl7.org/fhir/StructureDefinition"
_SDC = "http://hl7.org/fhir/uv/sdc"

ADAPTIVE_RESPONSE = f"{_SDC}/StructureDefinition/sdc-questionnaireresponse-adapt"
ADAPTIVE_QUESTIONNAIRE = f"{_SDC}/StructureDefinition/sdc-questionnaire-adapt"
ADAPTIVE_SEARCH = f"{_SDC}/StructureDefinition/sdc-questionnaire-adapt-srch"
IS_ADAPTIVE = f"{_SDC}/StructureDefinition/sdc-questionnaire-questionnaireAdaptive"
NEXT_QUESTION = f"{_SDC}/OperationDefinition/Questionnaire-next-question"
GUIDE = f"{_SDC}/ImplementationGuide/hl7.fhir.uv.sdc|4.0.0"

VERSION_ALGORITHM = f"{_CORE}/artifact-versionAlgorithm"
VERSION_ALGORITHMS = "http://hl7.org/fhir/version-algorithm"
HIDDEN = f"{_CORE}/questionnaire-hidden"
UNIT = f"{_CORE}/questionnaire-unit"
ITEM_CONTROL = f"{_CORE}/questionnaire-itemControl"
ITEM_CONTROLS = "http://hl7.org/fhir/questionnaire-item-control"
MIN_VALUE, MAX_VALUE = f"{_CORE}/minValue", f"{_CORE}/maxValue"
DATA_ABSENT = f"{_CORE}/data-absent-reason"
DATA_ABSENT_REASONS = "http://terminology.hl7.org/CodeSystem/data-absent-reason"

INTERVIEW_KEY = "urn:eddi:interview"
"""The extension of a response that names the stored interview, on servers that store FHIR interviews."""
